import { FUNCTION, LANE, MARGIN, RECORD, RECORDS, RETURN } from "./lane.js";

const LOW = 2 ** 32;

/** What a lane had to tell. `values` are valid until the call returns: pairs of words, low half first. */
export interface Listener {
  called(lane: number, time: number, nr: number, site: number, values: Uint32Array): void;
  returned(lane: number, time: number, site: number, values: Uint32Array): void;
  entered(lane: number, time: number, id: number, values: Uint32Array): void;
}

/**
 * Reads one lane. Everything in it was written by the program, and may be anything: numbers are bounds-checked, and a
 * lane whose head runs backwards or too far ahead is read no further than it can hold.
 */
export class LaneReader {
  readonly index: number;
  readonly #words: Uint32Array;
  readonly #longs: BigUint64Array;
  readonly #copy = new Uint32Array(12);
  #tail = 0;
  #lost = 0;

  constructor(memory: ArrayBufferLike, index: number) {
    this.index = index;
    this.#words = new Uint32Array(memory, index * LANE.size, LANE.size / 4);
    this.#longs = new BigUint64Array(memory, index * LANE.size, LANE.size / 8);
  }

  /** Leaves no room in it, ever. */
  fill(): void {
    this.#words[LANE.head / 4] = this.#tail = RECORDS;
  }

  /** How often each function was called; exact, also where records were lost. */
  count(id: number): number {
    return Number(this.#longs[LANE.counts / 8 + id]);
  }

  /** Calls without a record: those that found the lane full, and records that were never finished. */
  get lost(): number {
    return Number(this.#longs[LANE.lost / 8]) + this.#lost;
  }

  /** Whether a call would find room for its records. */
  get hasRoom(): boolean {
    return (this.#words[LANE.head / 4]! - this.#tail) >>> 0 < RECORDS - MARGIN;
  }

  get waiting(): boolean {
    return this.#words[LANE.head / 4] !== this.#tail;
  }

  /**
   * Reads what is complete. `all`: the thread does not run; what is not complete now never will be, and is counted as
   * lost.
   */
  read(listener: Listener, all = false): number {
    const words = this.#words;
    const head = words[LANE.head / 4]!;
    const available = Math.min((head - this.#tail) >>> 0, RECORDS);
    let read = 0;
    for (; read < available; read++) {
      const at = LANE.records / 4 + ((this.#tail % RECORDS) * RECORD.size) / 4;
      const complete = words[at] === (this.#tail + 1) >>> 0;
      if (!complete && !all) break;
      if (complete) this.#deliver(at, listener);
      else this.#lost++;
      this.#tail = (this.#tail + 1) >>> 0;
    }
    if (read > 0) words[LANE.tail / 4] = this.#tail;
    return read;
  }

  #deliver(at: number, listener: Listener): void {
    const words = this.#words;
    const values = this.#copy;
    for (let i = 0; i < 12; i++) values[i] = words[at + RECORD.values / 4 + i]!;
    const time = words[at + RECORD.time / 4]! + words[at + RECORD.time / 4 + 1]! * LOW;
    const subject = words[at + RECORD.subject / 4]!;
    const site = subject >>> 16;
    if (site === FUNCTION) listener.entered(this.index, time, subject & 0xffff, values);
    else if (site & RETURN) listener.returned(this.index, time, site & ~RETURN, values);
    else listener.called(this.index, time, subject & 0xffff, site, values);
  }
}
