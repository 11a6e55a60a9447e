import { native } from "../kernel/native.js";
import type { SeenRange, Stop } from "../kernel/stop.js";

interface Seen extends SeenRange {
  readonly bytes: Buffer | undefined;
}

/** No program has memory above: the kernel refuses such an address. */
const HIGHEST = 2 ** 47;
const PAGE = 4096;
const ENAMETOOLONG = 36;
const NOTHING = Buffer.alloc(0);

/** For strings as they mostly are. What is kept of them is copied out. */
const shortString = Buffer.alloc(4096);

/**
 * What was read of a program's memory for one event. No byte is read twice: who asks again gets the first copy, and so do
 * all policies, the record and the call that is made in the program's place. Another thread of the program can change its
 * memory at any moment; what was decided on must be what happens.
 *
 * The buffers that it gives out are its own: whoever hands them on to policies copies them.
 */
export class Snapshot {
  readonly #tid: number;
  /** In the order of their addresses; no two overlap. */
  readonly #seen: Seen[] = [];

  constructor(tid: number) {
    this.#tid = tid;
  }

  /** Begins with what was fetched when the call stopped. */
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

  /** All that was read. */
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

  /** Exactly that much, or undefined. */
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

  /** The program's memory was changed by us: from now on, that is what it holds. */
  wrote(address: bigint, bytes: Uint8Array): void {
    const from = Number(address);
    for (const range of this.#seen) {
      const start = Math.max(from, range.from);
      const end = Math.min(from + bytes.length, range.to);
      if (start < end) range.bytes?.set(bytes.subarray(start - from, end - from), start - range.from);
    }
  }

  /** Where the first range that ends after this address is among all of them. */
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

  /** What is not known yet of a range. */
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

  /** Reads what nothing is known of. */
  #fetch(from: number, length: number, at: number): Buffer | undefined {
    const bytes = Buffer.allocUnsafe(length);
    const got = Math.max(0, native().fetch(this.#tid, BigInt(from), bytes));
    const read = bytes.subarray(0, got);
    this.#insert(at, from + got, from + length, undefined);
    this.#insert(at, from, from + got, read);
    return got > 0 ? read : undefined;
  }

  /** Some of it is known. */
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
      this.#insert(at, from, from + limit, Buffer.from(room)); // who wants a longer one goes on from there
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

  /** A string of which some part is known: piece by piece, and never past the page that it ends in. */
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
