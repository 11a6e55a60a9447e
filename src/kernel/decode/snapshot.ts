import { errnoValue } from "../../abi/named.js";
import { native } from "../binding/native.js";
import type { SeenRange, Stop } from "../binding/stop.js";

interface Seen extends SeenRange {
  readonly bytes: Buffer | undefined;
}

/** User memory ends here: the kernel refuses higher addresses. */
const HIGHEST = 2 ** 47;
const PAGE = 4096;
const ENAMETOOLONG = errnoValue("ENAMETOOLONG");
const NOTHING = Buffer.alloc(0);

/** For strings of usual length. The result is copied out. */
const shortString = Buffer.alloc(4096);

/**
 * The program memory that was read for one event. No byte is read twice: a repeated read returns the first
 * copy, for all policies, the record and the on-behalf call. Another thread of the program can change the
 * memory at any moment, and the checked bytes must be the used bytes.
 *
 * The returned buffers belong to the snapshot: copy them before you hand them to policies.
 */
export class Snapshot {
  readonly #tid: number;
  /** In the order of their addresses; no two overlap. */
  readonly #seen: Seen[] = [];

  constructor(tid: number) {
    this.#tid = tid;
  }

  /** Starts with the memory that was fetched at the stop. */
  static of(stop: Stop, isText: (i: number) => boolean): Snapshot {
    const snapshot = new Snapshot(stop.tid);
    for (let i = 0; i < 6; i++) {
      if (!stop.has(i) || stop.isNull(i)) continue;
      const from = stop.ulong(i);
      if (stop.slotError(i) !== 0) snapshot.#add(from, undefined, 1);
      else if (!isText(i) || stop.slotTruncated(i)) snapshot.#add(from, Buffer.from(stop.slotBytes(i)));
      else snapshot.#add(from, Buffer.concat([stop.slotBytes(i), Buffer.alloc(1)]));
    }
    return snapshot;
  }

  /** All ranges read so far. */
  get ranges(): readonly SeenRange[] {
    return this.#seen;
  }

  /** As much of [address, address + length) as can be read; undefined when nothing can. */
  read(address: bigint, length: number): Buffer | undefined {
    if (length <= 0) return NOTHING;
    if (address >= HIGHEST) return undefined;
    const from = Number(address);
    const at = this.#after(from);
    const next = this.#seen[at];
    if (!next || next.from >= from + length) return this.#fetch(from, length, at);
    if (next.from <= from && next.to >= from + length)
      return next.bytes?.subarray(from - next.from, from - next.from + length);
    return this.#assemble(from, length);
  }

  /** Exactly this many bytes, or undefined. */
  exactly(address: bigint, length: number): Buffer | undefined {
    const bytes = this.read(address, length);
    return bytes?.length === length ? bytes : undefined;
  }

  /** A NUL-terminated string of less than `limit` bytes, without its NUL; undefined when it cannot be read or is longer. */
  string(address: bigint, limit: number): Buffer | undefined {
    if (address === 0n || address >= HIGHEST) return undefined;
    const from = Number(address);
    const at = this.#after(from);
    const next = this.#seen[at];
    return !next || next.from >= from + limit
      ? this.#fetchString(from, limit, at)
      : this.#search(from, limit);
  }

  /** We changed the program's memory: from now on the snapshot holds the new bytes. */
  wrote(address: bigint, bytes: Uint8Array): void {
    const from = Number(address);
    for (const range of this.#seen) {
      const start = Math.max(from, range.from);
      const end = Math.min(from + bytes.length, range.to);
      if (start < end) range.bytes?.set(bytes.subarray(start - from, end - from), start - range.from);
    }
  }

  /** The index of the first range that ends after this address. */
  #after(address: number): number {
    let low = 0;
    let high = this.#seen.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#seen[middle]!.to > address) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #insert(at: number, from: number, to: number, bytes: Buffer | undefined): void {
    if (from < to) this.#seen.splice(at, 0, { from, to, bytes });
  }

  /** Adds the unknown parts of a range. */
  #add(start: number, bytes: Buffer | undefined, length = bytes?.length ?? 0): void {
    if (start >= HIGHEST) return;
    for (let from = start; from < start + length; ) {
      const at = this.#after(from);
      const next = this.#seen[at];
      if (next && next.from <= from) {
        from = next.to;
        continue;
      }
      const to = Math.min(start + length, next?.from ?? Number.POSITIVE_INFINITY);
      this.#insert(at, from, to, bytes?.subarray(from - start, to - start));
      from = to;
    }
  }

  /** Reads a range of which nothing is known. */
  #fetch(from: number, length: number, at: number): Buffer | undefined {
    const bytes = Buffer.allocUnsafe(length);
    const got = Math.max(0, native().fetch(this.#tid, BigInt(from), bytes));
    const read = bytes.subarray(0, got);
    this.#insert(at, from + got, from + length, undefined);
    this.#insert(at, from, from + got, read);
    return got > 0 ? read : undefined;
  }

  /** Combines a range of which some parts are known. */
  #assemble(from: number, length: number): Buffer | undefined {
    const parts: Buffer[] = [];
    for (let place = from; place < from + length; ) {
      const at = this.#after(place);
      const next = this.#seen[at];
      const isKnown = next !== undefined && next.from <= place;
      const end = Math.min(from + length, next ? (isKnown ? next.to : next.from) : Number.POSITIVE_INFINITY);
      const part = isKnown
        ? next.bytes?.subarray(place - next.from, end - next.from)
        : this.#fetch(place, end - place, at);
      if (part) parts.push(part);
      if (!part || part.length < end - place) break;
      place = end;
    }
    return parts.length > 0 ? Buffer.concat(parts) : undefined;
  }

  #fetchString(from: number, limit: number, at: number): Buffer | undefined {
    const room = limit <= shortString.length ? shortString.subarray(0, limit) : Buffer.allocUnsafe(limit);
    const got = native().fetchString(this.#tid, BigInt(from), room);
    if (got === -ENAMETOOLONG) {
      this.#insert(at, from, from + limit, Buffer.from(room)); // a caller that wants a longer one continues from there
      return undefined;
    }
    if (got < 0) {
      this.#insert(at, from, from + 1, undefined);
      return undefined;
    }
    const bytes = Buffer.from(room.subarray(0, got + 1));
    this.#insert(at, from, from + got + 1, bytes);
    return bytes.subarray(0, got);
  }

  /** A string of which some part is known: read piece by piece, never past the page in which it ends. */
  #search(from: number, limit: number): Buffer | undefined {
    const parts: Buffer[] = [];
    for (let place = from; place < from + limit; ) {
      const next = this.#seen[this.#after(place)];
      const isKnown = next !== undefined && next.from <= place;
      const page = place - (place % PAGE) + PAGE;
      const end = isKnown ? next.to : Math.min(page, next?.from ?? page);
      const part = this.read(BigInt(place), Math.min(end, from + limit) - place);
      if (!part) return undefined;
      const nul = part.indexOf(0);
      parts.push(nul < 0 ? part : part.subarray(0, nul));
      if (nul >= 0) return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
      place += part.length;
    }
    return undefined;
  }
}
