import { closeSync, openSync, writeSync } from "node:fs";
import type { ProgramMemory, ScanOptions } from "../../nouns/inside.js";
import { encodeText } from "../../nouns/text.js";
import { compileWord } from "../../policy/match/glob.js";
import { native } from "../binding/native.js";
import { type MapEntry, readMaps } from "../process/maps.js";
import { readString } from "./memory.js";
import type { Snapshot } from "./snapshot.js";

const MOST_AT_ONCE = 64 * 1024;
const LONGEST_TEXT = 4096;
const LONGEST_PATTERN = 4096;
const MOST_SCANNED = 256 * 1024 * 1024;
const SCAN_CHUNK = 1024 * 1024;
const FINDS = 100;
const MOST_FINDS = 10_000;

/**
 * A tracee's memory, for policies. `tid` throws once the event has been answered. Memory that was read for
 * the event stays as it was read. Only scan() searches the current memory; read a match to use it.
 */
export function programMemory(tid: () => number, snapshot: () => Snapshot): ProgramMemory {
  const read = (address: bigint, length: number) => {
    tid();
    const bytes = snapshot().read(u64(address), Math.min(length, MOST_AT_ONCE));
    return bytes && Buffer.from(bytes);
  };
  const put = (address: bigint, bytes: Uint8Array) => {
    write(tid(), address, bytes);
    snapshot().wrote(address, bytes);
  };
  return Object.assign(read, {
    read,
    text: (address: bigint) => {
      tid();
      return readString(snapshot(), u64(address), LONGEST_TEXT);
    },
    write: (address: bigint, bytes: Uint8Array | string) => put(u64(address), toBytes(bytes)),
    scan: (pattern: Uint8Array | string, options: ScanOptions = {}) => scan(tid(), toBytes(pattern), options),
  });
}

const u64 = (address: bigint) => BigInt.asUintN(64, BigInt(address));
const toBytes = (bytes: Uint8Array | string) => (typeof bytes === "string" ? encodeText(bytes) : bytes);

/** Writes through the tracee's mem file, which also reaches read-only pages. */
function write(tid: number, address: bigint, bytes: Uint8Array): void {
  if (bytes.length > MOST_AT_ONCE) throw new RangeError(`one write takes at most ${MOST_AT_ONCE} bytes`);
  if (bytes.length === 0) return;
  const fd = openSync(`/proc/${tid}/mem`, "r+");
  try {
    const put = writeSync(fd, bytes, 0, bytes.length, Number(address));
    if (put !== bytes.length) throw new Error(`only ${put} of ${bytes.length} bytes could be written`);
  } catch (cause) {
    throw new Error(`memory at 0x${address.toString(16)} cannot be written: ${(cause as Error).message}`, {
      cause,
    });
  } finally {
    closeSync(fd);
  }
}

function scan(tid: number, pattern: Uint8Array, options: ScanOptions): bigint[] {
  if (pattern.length === 0 || pattern.length > LONGEST_PATTERN)
    throw new RangeError(`a pattern takes 1 to ${LONGEST_PATTERN} bytes`);
  const regions = regionsOf(tid, options);
  const total = regions.reduce((sum, { from, to }) => sum + to - from, 0);
  if (total > MOST_SCANNED)
    throw new RangeError(
      `cannot scan ${Math.ceil(total / 1024 / 1024)} MB at once: name a region, or from and to`,
    );
  const limit = Math.min(options.limit ?? FINDS, MOST_FINDS);
  const found: bigint[] = [];
  const chunk = Buffer.allocUnsafe(SCAN_CHUNK + pattern.length - 1);
  for (const { from, to } of regions) {
    for (let at = from; at < to && found.length < limit; at += SCAN_CHUNK) {
      const got = native().fetch(tid, BigInt(at), chunk.subarray(0, Math.min(chunk.length, to - at)));
      const bytes = chunk.subarray(0, Math.max(0, got));
      for (let i = bytes.indexOf(pattern); i >= 0 && found.length < limit; i = bytes.indexOf(pattern, i + 1))
        found.push(BigInt(at + i));
    }
  }
  return found;
}

/** The requested ranges that can be read. Without a region: the program's writable memory. */
function regionsOf(tid: number, { region, from = 0n, to }: ScanOptions): { from: number; to: number }[] {
  // `[heap]` is a name here, not a glob's character set.
  const glob = region === undefined || region.startsWith("[") ? undefined : compileWord(region);
  const named = region === undefined ? undefined : (path: string) => path === region || glob?.(path) === true;
  const wanted = ({ permissions, path }: MapEntry) =>
    permissions[0] === "r" && path !== "[vvar]" && (named ? named(path) : permissions[1] === "w");
  return readMaps(tid)
    .filter(wanted)
    .map((entry) => ({
      from: Math.max(entry.from, Number(from)),
      to: Math.min(entry.to, to === undefined ? entry.to : Number(to)),
    }))
    .filter((part) => part.from < part.to);
}
