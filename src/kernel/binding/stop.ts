import { asciiText, decodeText } from "../../nouns/text.js";
import {
  ANSWER,
  ANSWER_FIELD,
  ANSWER_OFFSET,
  ARGUMENTS,
  EVENT_FIELD,
  MAX_PINS,
  MAX_WRITES,
  PIN_SIZE,
  PINS_OFFSET,
  REPLY_OFFSET,
  REPLY_SIZE,
  SLOT_SIZE,
  USER_REGISTERS,
  WRITE,
  WRITE_FIELD,
  WRITE_SIZE,
} from "./layout.js";

const WORD = 2 ** 32;
/** In the reply bytes: a length and room for any address. */
const ADDRESS_RECORD = 132;
/** The header of each memory range: its address, its length, and whether reading it failed. */
const SEEN_HEAD = 16;

/** A range of a program's memory as it was read; without bytes where reading failed. */
export interface SeenRange {
  readonly from: number;
  readonly to: number;
  readonly bytes: Uint8Array | undefined;
}

/** One stopped tracee, read through typed views of the shared buffer. */
export class Stop {
  readonly bytes: Buffer;
  readonly #i32: Int32Array;
  readonly #u32: Uint32Array;
  readonly #u64: BigUint64Array;
  readonly #i64: BigInt64Array;
  readonly #f64: Float64Array;
  /** Counts events, so that a holder of an old one can tell that its bytes are gone. */
  generation = 0;

  /** The thread's registers at the trace door, as 32-bit halves and as a whole. */
  readonly registerHalves: Uint32Array;
  readonly registers: BigUint64Array;

  constructor(memory: ArrayBufferLike) {
    this.bytes = Buffer.from(memory as ArrayBuffer);
    this.registerHalves = new Uint32Array(memory, EVENT_FIELD.registers, USER_REGISTERS * 2);
    this.registers = new BigUint64Array(memory, EVENT_FIELD.registers, USER_REGISTERS);
    this.#i32 = new Int32Array(memory);
    this.#u32 = new Uint32Array(memory);
    this.#u64 = new BigUint64Array(memory);
    this.#i64 = new BigInt64Array(memory);
    this.#f64 = new Float64Array(memory);
  }

  get kind(): number {
    return this.#u32[EVENT_FIELD.kind >> 2]!;
  }
  get door(): number {
    return this.#u32[EVENT_FIELD.door >> 2]!;
  }
  get tid(): number {
    return this.#i32[EVENT_FIELD.tid >> 2]!;
  }
  get nr(): number {
    return this.#i32[EVENT_FIELD.nr >> 2]!;
  }
  get peer(): number {
    return this.#i32[EVENT_FIELD.peer >> 2]!;
  }
  /**
   * The process that resolves paths and makes calls on behalf of the program: an argument of native()
   * functions.
   */
  get broker(): number {
    return this.#i32[EVENT_FIELD.broker >> 2]!;
  }
  get time(): number {
    return this.#f64[EVENT_FIELD.time >> 3]!;
  }
  get id(): bigint {
    return this.#u64[EVENT_FIELD.id >> 3]!;
  }
  get ip(): bigint {
    return this.#u64[EVENT_FIELD.ip >> 3]!;
  }
  get sp(): bigint {
    return this.#u64[EVENT_FIELD.sp >> 3]!;
  }
  /** The result as a number: exact for every errno, count and descriptor. */
  get result(): number {
    const at = EVENT_FIELD.result >> 2;
    return this.#i32[at + 1]! * WORD + this.#u32[at]!;
  }
  get resultExact(): bigint {
    return this.#i64[EVENT_FIELD.result >> 3]!;
  }

  /** The low half of an argument, as the kernel reads an int. */
  int(i: number): number {
    return this.#i32[(EVENT_FIELD.args >> 2) + i * 2]!;
  }
  uint(i: number): number {
    return this.#u32[(EVENT_FIELD.args >> 2) + i * 2]!;
  }
  /** A 64-bit signed argument as a number: exact up to 2^53. */
  long(i: number): number {
    const at = (EVENT_FIELD.args >> 2) + i * 2;
    return this.#i32[at + 1]! * WORD + this.#u32[at]!;
  }
  ulong(i: number): number {
    const at = (EVENT_FIELD.args >> 2) + i * 2;
    return this.#u32[at + 1]! * WORD + this.#u32[at]!;
  }
  exact(i: number): bigint {
    return this.#u64[(EVENT_FIELD.args >> 3) + i]!;
  }
  isNull(i: number): boolean {
    const at = (EVENT_FIELD.args >> 2) + i * 2;
    return this.#u32[at] === 0 && this.#u32[at + 1] === 0;
  }

  /** True when the memory behind argument i was fetched at the stop. */
  has(i: number): boolean {
    return (this.#u32[EVENT_FIELD.fetched >> 2]! & (1 << i)) !== 0;
  }
  #slot(i: number): number {
    return (EVENT_FIELD.slots + i * SLOT_SIZE) >> 2;
  }
  /** A view of the fetched bytes, valid until the event is answered. */
  slotBytes(i: number): Buffer {
    const at = this.#slot(i);
    return this.bytes.subarray(this.#u32[at]!, this.#u32[at]! + this.#u32[at + 1]!);
  }
  slotError(i: number): number {
    return this.#i32[this.#slot(i) + 2]!;
  }
  slotTruncated(i: number): boolean {
    return this.#u32[this.#slot(i) + 3] !== 0;
  }
  /** The fetched bytes as text. */
  slotText(i: number): string {
    const at = this.#slot(i);
    const from = this.#u32[at]!;
    return asciiText(this.bytes, from, from + this.#u32[at + 1]!) ?? decodeText(this.slotBytes(i));
  }

  /** The pin that holds the i-th path of the call open. */
  pin(i: number): Uint8Array {
    return this.bytes.subarray(PINS_OFFSET + i * PIN_SIZE, PINS_OFFSET + (i + 1) * PIN_SIZE);
  }

  /** The argument registers, as they lie in memory. */
  get rawArguments(): Uint8Array {
    return this.bytes.subarray(EVENT_FIELD.args, EVENT_FIELD.args + ARGUMENTS * 8);
  }

  /** Moves the pins out of the event, so that they stay open after it is answered. */
  takePins(): Uint8Array {
    const place = this.bytes.subarray(PINS_OFFSET, PINS_OFFSET + MAX_PINS * PIN_SIZE);
    const pins = Uint8Array.from(place);
    place.fill(0);
    return pins;
  }

  givePins(pins: Uint8Array): void {
    this.bytes.set(pins, PINS_OFFSET);
  }

  /** A private copy of the event and its bytes, for use after the event is answered. */
  copy(): Stop {
    let used = 0;
    for (let i = 0; i < ARGUMENTS; i++) if (this.has(i)) used += this.#u32[this.#slot(i) + 1]!;
    const memory = new ArrayBuffer((ANSWER_OFFSET + used + 7) & ~7);
    const copy = new Stop(memory);
    copy.bytes.set(this.bytes.subarray(0, ANSWER_OFFSET));
    let at = ANSWER_OFFSET;
    for (let i = 0; i < ARGUMENTS; i++) {
      if (!this.has(i)) continue;
      const bytes = this.slotBytes(i);
      copy.bytes.set(bytes, at);
      copy.#u32[copy.#slot(i)] = at;
      at += bytes.length;
    }
    return copy;
  }
}

/** Writes the answer to an event into the shared buffer. */
export class StopAnswer {
  readonly #bytes: Buffer;
  readonly #u32: Uint32Array;
  readonly #i32: Int32Array;
  readonly #i64: BigInt64Array;
  readonly #u64: BigUint64Array;
  #used = 0;

  constructor(memory: ArrayBufferLike) {
    this.#bytes = Buffer.from(memory as ArrayBuffer);
    this.#u32 = new Uint32Array(memory);
    this.#i32 = new Int32Array(memory);
    this.#i64 = new BigInt64Array(memory);
    this.#u64 = new BigUint64Array(memory);
  }

  #at(field: number): number {
    return (ANSWER_OFFSET + field) >> 2;
  }

  /** Starts an answer over. Every other method adds to it. */
  begin(action: number, flags = 0): this {
    this.#u32[this.#at(ANSWER_FIELD.action)] = action;
    this.#u32[this.#at(ANSWER_FIELD.flags)] = flags;
    this.#u32[this.#at(ANSWER_FIELD.registers)] = 0;
    this.#i32[this.#at(ANSWER_FIELD.signal)] = 0;
    this.#u32[this.#at(ANSWER_FIELD.writeCount)] = 0;
    this.#used = 0;
    return this;
  }

  get action(): number {
    return this.#u32[this.#at(ANSWER_FIELD.action)]!;
  }

  /** True for an on-behalf call that is made unchanged, with our own credentials. */
  get isPlainOnBehalf(): boolean {
    const zero = (field: number) => this.#u32[this.#at(field)] === 0;
    return (
      this.action === ANSWER.onBehalf &&
      zero(ANSWER_FIELD.flags) &&
      zero(ANSWER_FIELD.registers) &&
      zero(ANSWER_FIELD.writeCount)
    );
  }

  /** The result that the program will see, when the call does not happen. */
  get resultOfReturn(): number | undefined {
    return this.action === ANSWER.return
      ? Number(this.#i64[(ANSWER_OFFSET + ANSWER_FIELD.result) >> 3]!)
      : undefined;
  }

  /** The same writes and result, but for a call that has already happened. */
  asContinue(): this {
    this.#u32[this.#at(ANSWER_FIELD.action)] = ANSWER.continue;
    return this;
  }

  flag(flag: number): this {
    this.#u32[this.#at(ANSWER_FIELD.flags)]! |= flag;
    return this;
  }

  result(value: number | bigint): this {
    this.#i64[(ANSWER_OFFSET + ANSWER_FIELD.result) >> 3] = BigInt.asIntN(64, BigInt(value));
    return this;
  }

  signal(number: number): this {
    this.#i32[this.#at(ANSWER_FIELD.signal)] = number;
    return this;
  }

  register(i: number, value: number | bigint): this {
    this.#u32[this.#at(ANSWER_FIELD.registers)]! |= 1 << i;
    this.#u64[((ANSWER_OFFSET + ANSWER_FIELD.args) >> 3) + i] = BigInt.asUintN(64, BigInt(value));
    return this;
  }

  /** Overwrites the tracee's memory at `address`. */
  memory(address: bigint, bytes: Uint8Array): this {
    return this.#write(WRITE.memory, 0, address, bytes);
  }

  /** Replaces the bytes that argument i points at. */
  pointer(i: number, bytes: Uint8Array): this {
    return this.#write(WRITE.pointer, i, 0n, bytes);
  }

  /** For an on-behalf call: the addresses that were decided on, one for each message. */
  addresses(names: readonly (Uint8Array | undefined)[]): this {
    const bytes = Buffer.alloc(names.length * ADDRESS_RECORD);
    for (const [i, name] of names.entries()) {
      bytes.writeUInt32LE(name?.length ?? 0, i * ADDRESS_RECORD);
      if (name) bytes.set(name.subarray(0, ADDRESS_RECORD - 4), i * ADDRESS_RECORD + 4);
    }
    return this.#write(WRITE.address, 0, 0n, bytes);
  }

  /** For an on-behalf call: the struct open_how that was decided on. */
  how(bytes: Uint8Array): this {
    return this.#write(WRITE.how, 0, 0n, bytes);
  }

  /** For an on-behalf call: the program memory that was read. Where ranges overlap, the first one counts. */
  seen(ranges: readonly SeenRange[]): this {
    const sizeOf = ({ bytes }: SeenRange) => SEEN_HEAD + (((bytes?.length ?? 0) + 7) & ~7);
    const total = ranges.reduce((sum, range) => sum + sizeOf(range), 0);
    if (total > REPLY_SIZE)
      throw new RangeError(`a decision can read at most ${REPLY_SIZE} bytes of the program's memory`);
    const packed = Buffer.alloc(total);
    let at = 0;
    for (const range of ranges) {
      packed.writeBigUInt64LE(BigInt(range.from), at);
      packed.writeUInt32LE(range.bytes?.length ?? Math.min(range.to - range.from, 0xffff_ffff), at + 8);
      packed.writeUInt32LE(Number(range.bytes === undefined), at + 12);
      if (range.bytes) packed.set(range.bytes, at + SEEN_HEAD);
      at += sizeOf(range);
    }
    return this.#write(WRITE.snapshot, 0, 0n, packed);
  }

  #write(kind: number, argument: number, address: bigint, bytes: Uint8Array): this {
    const count = this.#u32[this.#at(ANSWER_FIELD.writeCount)]!;
    if (count >= MAX_WRITES || this.#used + bytes.length > REPLY_SIZE)
      throw new RangeError(`an answer holds at most ${MAX_WRITES} writes and ${REPLY_SIZE} bytes`);
    const at = ANSWER_OFFSET + ANSWER_FIELD.writes + count * WRITE_SIZE;
    this.#u32[(at + WRITE_FIELD.kind) >> 2] = kind;
    this.#u32[(at + WRITE_FIELD.argument) >> 2] = argument;
    this.#u64[(at + WRITE_FIELD.address) >> 3] = address;
    this.#u32[(at + WRITE_FIELD.offset) >> 2] = this.#used;
    this.#u32[(at + WRITE_FIELD.length) >> 2] = bytes.length;
    this.#bytes.set(bytes, REPLY_OFFSET + this.#used);
    this.#used += bytes.length;
    this.#u32[this.#at(ANSWER_FIELD.writeCount)] = count + 1;
    return this;
  }
}
