import { FUNCTION_SITE, LANE, MARGIN, RECORD, RECORDS, RETURN_BIT } from "./lane.js";

const LOW = 2 ** 32;

/**
 * Receives the content of a lane. `values` are valid until the call returns: pairs of words, low half first.
 */
export interface LaneListener {
  called(lane: number, time: number, nr: number, site: number, values: Uint32Array): void;
  returned(lane: number, time: number, site: number, values: Uint32Array): void;
  entered(lane: number, time: number, id: number, values: Uint32Array): void;
}

/**
 * Reads one lane. The program writes it and can write any bytes: numbers are bounds-checked, and a lane whose
 * head moves backwards or too far ahead is read only up to its size.
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

  /** Marks the lane as full for good. */
  fill(): void {
    this.#words[LANE.head / 4] = this.#tail = RECORDS;
  }

  /** How often a function was called; exact even if records were lost. */
  count(id: number): number {
    return Number(this.#longs[LANE.counts / 8 + id]);
  }

  /** Calls without a record: the lane was full, or the record was never finished. */
  get lost(): number {
    return Number(this.#longs[LANE.lost / 8]) + this.#lost;
  }

  /** True when a call would find room for its records. */
  get hasRoom(): boolean {
    return (this.#words[LANE.head / 4]! - this.#tail) >>> 0 < RECORDS - MARGIN;
  }

  get waiting(): boolean {
    return this.#words[LANE.head / 4] !== this.#tail;
  }

  /**
   * Reads complete records. `all`: the thread is not running, so an incomplete record will never be finished
   * and counts as lost.
   */
  read(listener: LaneListener, all = false): number {
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

  #deliver(at: number, listener: LaneListener): void {
    const words = this.#words;
    const values = this.#copy;
    for (let i = 0; i < 12; i++) values[i] = words[at + RECORD.values / 4 + i]!;
    const time = words[at + RECORD.time / 4]! + words[at + RECORD.time / 4 + 1]! * LOW;
    const subject = words[at + RECORD.subject / 4]!;
    const site = subject >>> 16;
    if (site === FUNCTION_SITE) listener.entered(this.index, time, subject & 0xffff, values);
    else if (site & RETURN_BIT) listener.returned(this.index, time, site & ~RETURN_BIT, values);
    else listener.called(this.index, time, subject & 0xffff, site, values);
  }
}
