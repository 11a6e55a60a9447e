import type { MemoryMap } from "../../nouns/event.js";
import { decodeText } from "../../nouns/text.js";
import { readText } from "./proc.js";

/** One line of /proc/PID/maps. Addresses are numbers: user space ends below 2^47. */
export interface MapEntry {
  readonly from: number;
  readonly to: number;
  /** `r-xp`: read, write, execute, private or shared. */
  readonly permissions: string;
  readonly offset: number;
  /** `08:01`, and the inode there; 0 for memory without a file. */
  readonly device: string;
  readonly inode: number;
  /** A file, `[stack]`, `[vdso]`, or nothing. */
  readonly path: string;
}

const LINE = /^([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) (\S+) (\d+) *(.*)$/gm;

/** In order of their addresses; empty when the process has ended. */
export function readMaps(pid: number): readonly MapEntry[] {
  return parseMaps(readText(`/proc/${pid}/maps`));
}

export function parseMaps(text: string): readonly MapEntry[] {
  return Array.from(text.matchAll(LINE), (m) => ({
    from: Number.parseInt(m[1]!, 16),
    to: Number.parseInt(m[2]!, 16),
    permissions: m[3]!,
    offset: Number.parseInt(m[4]!, 16),
    device: m[5]!,
    inode: Number(m[6]),
    path: decodeText(Buffer.from(m[7]!, "latin1")),
  }));
}

/** The mappings, in the form that policies see. */
export function memoryMaps(pid: number): MemoryMap[] {
  return readMaps(pid).map(({ from, to, permissions, offset, path }) => ({
    from: BigInt(from),
    to: BigInt(to),
    permissions,
    offset: BigInt(offset),
    path,
  }));
}

/** The entry that holds an address, by binary search. */
export function mapAt(maps: readonly MapEntry[], address: number): MapEntry | undefined {
  let low = 0;
  let high = maps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (maps[middle]!.from <= address) low = middle + 1;
    else high = middle;
  }
  const entry = maps[low - 1];
  return entry && address < entry.to ? entry : undefined;
}

export function isExecutableMapping(entry: MapEntry): boolean {
  return entry.permissions[2] === "x";
}
