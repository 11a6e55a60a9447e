import { appendFileSync, createReadStream, mkdirSync, renameSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { VerdictAction } from "../../nouns/verdict.js";
import { stateFolder } from "../store/state-folder.js";
import type { DecidedCall } from "./decided-call.js";

/**
 * What runs were refused, beside the store: a line of JSON for each run, or for each minute of a long one. `hermes log`
 * shows it with the audit. It is no part of the audit's chain: a run need not open the store.
 */
export interface RunRecord {
  readonly hermes: "run";
  readonly version: 1;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** When the run began: with `pid` it names the run. */
  readonly started: number;
  /** Of the supervisor. */
  readonly pid: number;
  readonly agent: string;
  readonly command: readonly string[];
  readonly workspace: string;
  readonly refused: readonly RefusedDeed[];
  /** Refusals of the run that are not listed. */
  readonly unlisted: number;
}

interface RefusedDeed {
  readonly action: VerdictAction;
  readonly what: string;
  readonly call: string;
  readonly about?: DecidedCall;
  readonly policy: string;
  readonly rule?: string;
  readonly reason?: string;
  readonly count: number;
  readonly fixed?: boolean;
}

/** At this size the file becomes the one before; of these there is one. */
const LARGEST = 16 * 1024 * 1024;
const BEFORE = ".1";

/** Behind the name of the store: self-defence protects both. */
const SUFFIX = ".runs";

export function runLogFile(env = process.env, home = homedir()): string {
  const named = env.HERMES_STORE ?? "";
  const isFile = named !== "" && !/^(?!sqlite:)[a-z][a-z0-9+.-]*:/i.test(named);
  return (isFile ? named.replace(/^sqlite:/, "") : join(stateFolder(env, home), "hermes.db")) + SUFFIX;
}

/** Adds a record. One write appends the whole line, so records of several runs do not mix. */
export function addRunRecord(record: RunRecord, file = runLogFile()): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGEST) renameSync(file, file + BEFORE);
  appendFileSync(file, `${JSON.stringify(record)}\n`, { mode: 0o600 });
}

/** Oldest first. Lines that are no records (a full disk cut one off) are left out. */
export async function* runRecords(file = runLogFile()): AsyncGenerator<RunRecord> {
  for (const part of [file + BEFORE, file]) {
    if (!statSync(part, { throwIfNoEntry: false })?.isFile()) continue;
    for await (const line of createInterface({
      input: createReadStream(part),
      crlfDelay: Number.POSITIVE_INFINITY,
    })) {
      const record = parsed(line);
      if (record) yield record;
    }
  }
}

function parsed(line: string): RunRecord | undefined {
  try {
    const record = JSON.parse(line) as RunRecord;
    return record.hermes === "run" && record.version === 1 ? record : undefined;
  } catch {
    return undefined;
  }
}
