import { closeSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import { decodeText } from "../text.js";

/** What /proc says of processes. Whoever is gone says nothing: empty texts, and no numbers. */

export interface Stat {
  /** R, S, T … */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  /** The process group that its terminal listens to; -1 without a terminal. */
  readonly foreground: number;
  /** PF_ bits of the kernel. */
  readonly flags: number;
  /** Clock ticks since boot: with the number it names a process for ever. */
  readonly start: number;
}

/** proc(5): the name in parentheses may hold anything, so fields count from the last `)`. */
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
 * Undefined for whoever is gone. Files of /proc have no size, and this is done for every program that starts: what comes
 * back is good until the next time.
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

/** Every process that can be seen from here. */
export function processes(): number[] {
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

const MAX_DEPTH = 10_000;

/** Whether a process is a child of another, or a child's child … */
export function isBelow(pid: number, ancestor: number): boolean {
  return childAbove(pid, ancestor) !== undefined;
}

/** The child of `ancestor` that a process is, or is below of. */
export function childAbove(pid: number, ancestor: number): number | undefined {
  for (let at = pid, depth = 0; at > 1 && depth < MAX_DEPTH; depth++) {
    const parent = readStat(at)?.parent ?? 0;
    if (parent === ancestor) return at;
    at = parent;
  }
  return undefined;
}

/** Every process below one, each behind its parent. What a run leaves behind is adopted by its broker, and so stays below. */
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
