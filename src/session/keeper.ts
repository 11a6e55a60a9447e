import { syscallByNumber } from "../abi/index.js";
import type { Arrangement } from "../doors/arrangement.js";
import { HermesError } from "../errors.js";
import { native } from "../kernel/native.js";
import { processes, readLink, readText } from "../process/proc.js";
import type { Target } from "../process/target.js";

/**
 * What an earlier HERMES left with a process: a filter that cannot be taken out, and a keeper (native/keep.c) that holds
 * its listener. There can be only one listener, so whoever comes later takes over from the keeper, if the filter stops
 * all that is wanted.
 */
export interface Kept {
  readonly keeper: number;
  readonly note: Uint8Array;
  /** Why this arrangement cannot be served by it. */
  lacks(arrangement: Arrangement): string | undefined;
}

/** What a filter stops: calls, and of those that stop only for some arguments, for which. */
interface Note {
  readonly version: 1;
  /** When the process was started: its number may be another's by now. */
  readonly start: number;
  readonly calls: Readonly<Record<string, string>>;
}

const MAX_NOTE = 64 * 1024;
const EBUSY = 16;

export function noteOf({ start }: Target, { doorOf, narrowed }: Arrangement): Uint8Array {
  const calls = Object.fromEntries([...doorOf.keys()].map((nr) => [nr, narrowed.get(nr) ?? ""]));
  const bytes = Buffer.from(JSON.stringify({ version: 1, start, calls } satisfies Note));
  // One that is too long is left out: then nobody can take over, but nothing is harmed.
  return bytes.length < MAX_NOTE ? bytes : new Uint8Array();
}

export function findKeeper(target: Target): Kept | undefined {
  for (const keeper of processes().filter((pid) => keeps(pid, target.pid))) {
    const into = new Uint8Array(MAX_NOTE);
    const length = native().keptNote(keeper, into);
    if (length === -EBUSY)
      throw new HermesError("ATTACH", { pid: target.pid, why: "another HERMES is attached to it" });
    const note = length > 0 ? parse(into.slice(0, length)) : undefined;
    if (note?.start !== target.start) continue;
    return { keeper, note: into.slice(0, length), lacks: (arrangement) => missing(note, arrangement) };
  }
  return undefined;
}

function keeps(pid: number, target: number): boolean {
  const [name, whom] = readText(`/proc/${pid}/cmdline`).split("\0");
  return (
    name === "hermes-keep" && whom === String(target) && /\/hermes-launch( \(deleted\))?$/.test(exeOf(pid))
  );
}

function exeOf(pid: number): string {
  return readLink(`/proc/${pid}/exe`);
}

function parse(bytes: Uint8Array): Note | undefined {
  try {
    const note = JSON.parse(Buffer.from(bytes).toString()) as Note;
    return note.version === 1 && typeof note.start === "number" && typeof note.calls === "object"
      ? note
      : undefined;
  } catch {
    return undefined;
  }
}

function missing({ calls }: Note, { doorOf, narrowed }: Arrangement): string | undefined {
  const names = [...doorOf.keys()]
    .filter((nr) => calls[nr] !== "" && (calls[nr] === undefined || calls[nr] !== narrowed.get(nr)))
    .map((nr) => syscallByNumber(nr)?.name ?? String(nr));
  if (names.length === 0) return undefined;
  const some = `${names.slice(0, 8).join(", ")}${names.length > 8 ? " …" : ""}`;
  return `the filter that HERMES left in it does not stop ${some}, and there can be no second one`;
}
