import { syscallByNumber } from "../abi/index.js";
import { errnoValue } from "../abi/named.js";
import { native } from "../kernel/binding/native.js";
import type { DoorPlan } from "../kernel/doors/door-plan.js";
import type { AttachTarget } from "../kernel/process/attach-target.js";
import { processes, readLink, readText } from "../kernel/process/proc.js";
import { HermesError } from "../nouns/errors.js";

/**
 * What an earlier HERMES left in a process: a filter that cannot be removed, and a keeper (native/launcher/keeper.c)
 * that holds its listener. A process can have only one listener. So a later HERMES takes over from the
 * keeper, if the filter stops all calls that it needs.
 */
export interface KeptFilter {
  readonly keeper: number;
  readonly note: Uint8Array;
  /** Why it cannot serve these doors. */
  lacks(doorPlan: DoorPlan): string | undefined;
}

/** What a filter stops: calls, and for some of them the argument values. */
interface Note {
  readonly version: 1;
  /** The process's start time: its pid may be reused by now. */
  readonly start: number;
  readonly calls: Readonly<Record<string, string>>;
}

const MAX_NOTE = 64 * 1024;
const EBUSY = errnoValue("EBUSY");

export function noteOf({ start }: AttachTarget, { doorOf, narrowed }: DoorPlan): Uint8Array {
  const calls = Object.fromEntries([...doorOf.keys()].map((nr) => [nr, narrowed.get(nr) ?? ""]));
  const bytes = Buffer.from(JSON.stringify({ version: 1, start, calls } satisfies Note));
  // A note that is too long is left out. Then no later HERMES can take over, but nothing else fails.
  return bytes.length < MAX_NOTE ? bytes : new Uint8Array();
}

export function findKeeper(target: AttachTarget): KeptFilter | undefined {
  for (const keeper of processes().filter((pid) => keeps(pid, target.pid))) {
    const into = new Uint8Array(MAX_NOTE);
    const length = native().keptNote(keeper, into);
    if (length === -EBUSY)
      throw new HermesError("ATTACH", { pid: target.pid, why: "another HERMES is attached to it" });
    const note = length > 0 ? parse(into.slice(0, length)) : undefined;
    if (note?.start !== target.start) continue;
    return { keeper, note: into.slice(0, length), lacks: (doorPlan) => missing(note, doorPlan) };
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

function missing({ calls }: Note, { doorOf, narrowed }: DoorPlan): string | undefined {
  const names = [...doorOf.keys()]
    .filter((nr) => calls[nr] !== "" && (calls[nr] === undefined || calls[nr] !== narrowed.get(nr)))
    .map((nr) => syscallByNumber(nr)?.name ?? String(nr));
  if (names.length === 0) return undefined;
  const some = `${names.slice(0, 8).join(", ")}${names.length > 8 ? " …" : ""}`;
  return `the filter that HERMES left in it does not stop ${some}, and a second filter is not possible`;
}
