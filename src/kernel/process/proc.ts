import { closeSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import { decodeText } from "../../nouns/text.js";

/** What /proc says about processes. For a process that has ended, texts are empty and numbers undefined. */

export interface Stat {
  /** R, S, T … */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  /** The foreground process group of its terminal; -1 without a terminal. */
  readonly foreground: number;
  /** PF_ bits of the kernel. */
  readonly flags: number;
  /** Clock ticks since boot. Together with the pid it identifies a process uniquely. */
  readonly start: number;
}

/** proc(5): the name in parentheses may contain any character, so fields count from the last `)`. */
export function readStat(pid: number | "self"): Stat | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === "") return undefined;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return {
    state: fields[0]!,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    foreground: Number(fields[5]),
    flags: Number(fields[6]),
    start: Number(fields[19]),
  };
}

export function readText(file: string): string {
  return readBytes(file)?.toString("latin1") ?? "";
}

let room = Buffer.allocUnsafeSlow(16_384);

/**
 * Undefined when the process has ended. Files of /proc have no size, and this runs for every program start:
 * so the buffer is reused, and valid until the next call.
 */
export function readBytes(file: string): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, "r");
    let length = 0;
    for (let got = -1; got !== 0; length += got) {
      if (length === room.length) room = Buffer.concat([room], 2 * length);
      got = readSync(fd, room, length, room.length - length, null);
    }
    return room.subarray(0, length);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

export function readLink(path: string): string {
  try {
    return decodeText(readlinkSync(path, { encoding: "buffer" }));
  } catch {
    return "";
  }
}

/** Every process that we can see. */
export function processes(): number[] {
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

/** The processes that a thread started, or adopted (proc(5)). */
export function childrenOf(pid: number, tid: number): number[] {
  const text = readText(`/proc/${pid}/task/${tid}/children`);
  return text.split(" ").filter(Boolean).map(Number);
}

const MAX_DEPTH = 10_000;

/** True when `pid` is a descendant of `ancestor`. */
export function isBelow(pid: number, ancestor: number): boolean {
  return childAbove(pid, ancestor) !== undefined;
}

/** The child of `ancestor` that is this process or has it as a descendant. */
export function childAbove(pid: number, ancestor: number): number | undefined {
  for (let at = pid, depth = 0; at > 1 && depth < MAX_DEPTH; depth++) {
    const parent = readStat(at)?.parent ?? 0;
    if (parent === ancestor) return at;
    at = parent;
  }
  return undefined;
}

/**
 * All descendants of a process, parents first. A run's orphans are adopted by its broker, and so stay below
 * it.
 */
export function processesBelow(root: number): { readonly pid: number; readonly parent: number }[] {
  const children = new Map<number, number[]>();
  for (const pid of processes()) {
    const parent = readStat(pid)?.parent;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const below = (parent: number): { pid: number; parent: number }[] =>
    (children.get(parent) ?? []).flatMap((pid) => [{ pid, parent }, ...below(pid)]);
  return below(root);
}
