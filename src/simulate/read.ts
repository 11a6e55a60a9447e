import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { dirname, extname } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { HermesError } from "../errors.js";
import type { CallEvent, ReturnEvent } from "../event.js";
import { type CallRecord, RecordedCall } from "./recorded-call.js";

const BLOCK = 1 << 20;
const MAX_LINE = 16 << 20;

/** An event to be decided, and its return where one was recorded. */
export interface Occurrence {
  readonly event: CallEvent;
  readonly returned?: ReturnEvent;
}

/** The events of a trace (JSON lines) or of a YAML file that lists them, one after the other. */
export async function readEvents(file: string, take: (occurrence: Occurrence) => void): Promise<void> {
  if ([".yaml", ".yml"].includes(extname(file))) {
    for (const { event } of await readWritten(file)) take({ event });
    return;
  }
  let number = 0;
  for (const line of lines(file)) {
    number++;
    if (line.trim() === "") continue;
    const record = parseLine(line, `${file}:${number}`);
    if (record.kind !== "syscall") continue;
    const event = recorded(record, `${file}:${number}`);
    take(record.result === undefined ? { event } : { event, returned: new RecordedCall(record, true) });
  }
}

function parseLine(line: string, where: string): CallRecord & { kind?: string } {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new HermesError(
      "EVENTS",
      { file: where, message: "this line is not JSON; is it a trace?" },
      { cause },
    );
  }
}

function recorded(record: CallRecord, where: string): RecordedCall {
  try {
    return new RecordedCall(record);
  } catch (cause) {
    throw new HermesError("EVENTS", { file: where, message: (cause as Error).message }, { cause });
  }
}

/** An event that a person wrote down, and what else stands beside it: what a test expects. */
export interface Written {
  readonly event: CallEvent;
  readonly text: string;
  readonly expect?: string;
  readonly rule?: string;
}

/** A list of events, each as in the examples of a YAML policy: `{ read: ~/.ssh/id }`, `{ call: openat, path: /x }`. */
export async function readWritten(file: string): Promise<Written[]> {
  const parsed = await parseYaml(readText(file), file);
  if (!Array.isArray(parsed))
    throw new HermesError("EVENTS", { file, message: "it must be a list of events" });
  return Promise.all(parsed.map((entry, i) => written(entry, `${file}, event ${i + 1}`, dirname(file))));
}

export async function parseWritten(text: string): Promise<Written> {
  return written(await parseYaml(text, "--event"), `--event ${text}`, process.cwd());
}

async function written(entry: unknown, where: string, folder: string): Promise<Written> {
  const [{ exampleEvent }, { Variables }, { here }] = await Promise.all([
    import("../policy/yaml/example.js"),
    import("../policy/yaml/variables.js"),
    import("../policy/yaml/surroundings.js"),
  ]);
  const { expect, rule, ...spec } = (entry ?? {}) as Record<string, unknown>;
  try {
    return {
      event: exampleEvent(spec, new Variables(here(), folder, {})),
      text: Object.entries(spec)
        .map(([key, value]) => `${key} ${[value].flat().join(" ")}`)
        .join(", "),
      ...(expect !== undefined && { expect: String(expect) }),
      ...(rule !== undefined && { rule: String(rule) }),
    };
  } catch (cause) {
    throw new HermesError("EVENTS", { file: where, message: (cause as Error).message }, { cause });
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): HermesError {
  const message = `cannot be read: ${(cause as NodeJS.ErrnoException).code ?? cause}`;
  return new HermesError("EVENTS", { file, message }, { cause });
}

async function parseYaml(text: string, where: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    return parse(text);
  } catch (cause) {
    throw new HermesError("EVENTS", { file: where, message: (cause as Error).message }, { cause });
  }
}

function* lines(file: string): Generator<string> {
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch (cause) {
    throw unreadable(file, cause);
  }
  const decoder = new StringDecoder("utf8");
  const block = Buffer.alloc(BLOCK);
  let rest = "";
  try {
    for (let got = readSync(fd, block); got > 0; got = readSync(fd, block)) {
      const parts = (rest + decoder.write(block.subarray(0, got))).split("\n");
      rest = parts.pop()!;
      yield* parts;
      if (rest.length > MAX_LINE)
        throw new HermesError("EVENTS", { file, message: "a line is longer than 16 MiB" });
    }
    if (rest !== "") yield rest;
  } finally {
    closeSync(fd);
  }
}
