/** Copies memory of a tracee; returns the number of bytes, or -errno. */
export type Fetch = (address: bigint, into: Uint8Array) => number;

const FIRST = 8 * 1024;
const NEXT = 32 * 1024;
/** A walk that needs more fetches does not follow a stack. */
const MOST_FETCHES = 64;
/** The ABI lets functions use this much below the stack pointer. */
const RED_ZONE = 128;
const WORD = 2 ** 32;

export class Unreadable extends Error {
  constructor(readonly address: number) {
    super(`memory at 0x${address.toString(16)} cannot be read`);
  }
}

/** A thread's stack, fetched in pieces of some KB and read as numbers. */
export class StackMemory {
  readonly #fetch: Fetch;
  readonly #bytes = new Uint8Array(NEXT);
  readonly #words = new Uint32Array(this.#bytes.buffer);
  #from = 0;
  #length = 0;
  #fetches = 0;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** Starts a new walk at this stack pointer and drops what was read before. */
  begin(sp: number): void {
    this.#fetches = 0;
    this.#load(sp - RED_ZONE, FIRST);
  }

  #load(address: number, length: number): void {
    this.#from = address - (address % 8);
    this.#length = 0;
    if (!(this.#from >= 0 && this.#from < 2 ** 47)) return;
    this.#fetches++;
    const got = this.#fetch(
      BigInt(this.#from),
      length === NEXT ? this.#bytes : this.#bytes.subarray(0, length),
    );
    this.#length = Math.max(0, got);
  }

  /** Eight bytes as a number: exact for every address. Throws Unreadable. */
  word(address: number): number {
    let at = address - this.#from;
    if (!(at >= 0 && at + 8 <= this.#length)) {
      if (this.#fetches >= MOST_FETCHES) throw new Unreadable(address);
      this.#load(address, NEXT);
      at = address - this.#from;
      if (!(at >= 0 && at + 8 <= this.#length)) throw new Unreadable(address);
    }
    if ((at & 7) !== 0) return this.#unaligned(at);
    const i = at >> 2;
    return this.#words[i]! + this.#words[i + 1]! * WORD;
  }

  #unaligned(at: number): number {
    const view = new DataView(this.#bytes.buffer, at, 8);
    return view.getUint32(0, true) + view.getUint32(4, true) * WORD;
  }

  /** Bytes at any address, outside the stack's pieces; undefined when not all can be read. */
  peek(address: number, length: number): Uint8Array | undefined {
    if (!(address >= 0 && address < 2 ** 47)) return undefined;
    const bytes = new Uint8Array(length);
    return this.#fetch(BigInt(address), bytes) === length ? bytes : undefined;
  }
}
