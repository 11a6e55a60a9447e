import type { Output } from "./xz.js";

const HALF = 1024;

/** Lengths of matches: three ranges, each a tree of bits. */
class Lengths {
  readonly choice = new Uint16Array(2);
  readonly low = new Uint16Array(16 << 3);
  readonly middle = new Uint16Array(16 << 3);
  readonly high = new Uint16Array(256);

  reset(): void {
    for (const each of [this.choice, this.low, this.middle, this.high]) each.fill(HALF);
  }
}

/** LZMA as in its public specification (7-zip.org/sdk.html, lzma-specification): a range coder over adaptive bits. */
export class LzmaDecoder {
  readonly #output: Output;
  readonly #dictionary: number;
  #input: Uint8Array = new Uint8Array();
  #at = 0;
  #range = 0;
  #code = 0;

  #contextBits = 0;
  #literalMask = 0;
  #positionMask = 0;
  #literals = new Uint16Array();
  #state = 0;
  #distances = [0, 0, 0, 0];

  readonly #isMatch = new Uint16Array(12 << 4);
  readonly #isRepeat = new Uint16Array(12);
  readonly #isRepeat0 = new Uint16Array(12);
  readonly #isRepeat1 = new Uint16Array(12);
  readonly #isRepeat2 = new Uint16Array(12);
  readonly #isRepeat0Long = new Uint16Array(12 << 4);
  readonly #slots = new Uint16Array(4 << 6);
  readonly #special = new Uint16Array(128);
  readonly #align = new Uint16Array(16);
  readonly #lengths = new Lengths();
  readonly #repeatLengths = new Lengths();

  constructor(output: Output, dictionary: number) {
    this.#output = output;
    this.#dictionary = dictionary;
  }

  setProperties(byte: number): void {
    if (byte >= 9 * 5 * 5) throw new Error("properties of no kind");
    this.#contextBits = byte % 9;
    const positionBits = Math.floor(byte / 9) % 5;
    if (this.#contextBits + positionBits > 4) throw new Error("properties of no kind");
    this.#literalMask = (1 << positionBits) - 1;
    this.#positionMask = (1 << Math.floor(byte / 45)) - 1;
    this.#literals = new Uint16Array(0x300 << (this.#contextBits + positionBits));
  }

  reset(): void {
    if (this.#literals.length === 0) throw new Error("no properties");
    this.#state = 0;
    this.#distances = [0, 0, 0, 0];
    for (const each of [
      this.#literals,
      this.#isMatch,
      this.#isRepeat,
      this.#isRepeat0,
      this.#isRepeat1,
      this.#isRepeat2,
      this.#isRepeat0Long,
      this.#slots,
      this.#special,
      this.#align,
    ])
      each.fill(HALF);
    this.#lengths.reset();
    this.#repeatLengths.reset();
  }

  /** Unpacks one chunk: so many bytes, for which there is room. */
  decode(input: Uint8Array, size: number): void {
    if (this.#literals.length === 0) throw new Error("no properties");
    this.#input = input;
    this.#at = 1;
    this.#range = 0xffffffff;
    this.#code = 0;
    for (let i = 0; i < 4; i++) this.#code = ((this.#code << 8) | this.#next()) >>> 0;
    const end = this.#output.length + size;
    while (this.#output.length < end) this.#packet(end);
  }

  #packet(end: number): void {
    const output = this.#output;
    const position = (output.length - output.start) & this.#positionMask;
    const state = this.#state;
    if (this.#bit(this.#isMatch, (state << 4) + position) === 0) {
      this.#literal();
    } else if (this.#bit(this.#isRepeat, state) === 0) {
      const length = this.#length(this.#lengths, position);
      this.#state = state < 7 ? 7 : 10;
      const distance = this.#distance(length);
      this.#distances = [distance, this.#distances[0]!, this.#distances[1]!, this.#distances[2]!];
      this.#copy(length + 2, end);
    } else if (this.#chooseRepeat(state, position)) {
      const length = this.#length(this.#repeatLengths, position);
      this.#state = state < 7 ? 8 : 11;
      this.#copy(length + 2, end);
    } else {
      this.#state = state < 7 ? 9 : 11;
      this.#copy(1, end);
    }
  }

  /** Brings the distance that is meant to the front; false when it is the last one, for a single byte. */
  #chooseRepeat(state: number, position: number): boolean {
    const [a, b, c, d] = this.#distances as [number, number, number, number];
    if (this.#bit(this.#isRepeat0, state) === 0)
      return this.#bit(this.#isRepeat0Long, (state << 4) + position) !== 0;
    if (this.#bit(this.#isRepeat1, state) === 0) this.#distances = [b, a, c, d];
    else if (this.#bit(this.#isRepeat2, state) === 0) this.#distances = [c, a, b, d];
    else this.#distances = [d, a, b, c];
    return true;
  }

  #literal(): void {
    const output = this.#output;
    const offset = output.length - output.start;
    const before = offset === 0 ? 0 : output.bytes[output.length - 1]!;
    const context = ((offset & this.#literalMask) << this.#contextBits) + (before >> (8 - this.#contextBits));
    const from = 0x300 * context;
    let symbol = 1;
    if (this.#state >= 7) {
      let match = output.bytes[this.#back(this.#distances[0]!)]!;
      while (symbol < 0x100) {
        const expected = (match >> 7) & 1;
        match <<= 1;
        const bit = this.#bit(this.#literals, from + ((1 + expected) << 8) + symbol);
        symbol = (symbol << 1) | bit;
        if (bit !== expected) break;
      }
    }
    while (symbol < 0x100) symbol = (symbol << 1) | this.#bit(this.#literals, from + symbol);
    output.bytes[output.length++] = symbol & 0xff;
    this.#state = this.#state < 4 ? 0 : this.#state < 10 ? this.#state - 3 : this.#state - 6;
  }

  #copy(length: number, end: number): void {
    const output = this.#output;
    let from = this.#back(this.#distances[0]!);
    if (output.length + length > end) throw new Error("a match is longer than its chunk");
    for (let i = 0; i < length; i++) output.bytes[output.length++] = output.bytes[from++]!;
  }

  #back(distance: number): number {
    const output = this.#output;
    if (distance >= output.length - output.start || distance >= this.#dictionary)
      throw new Error("a match reaches before the beginning");
    return output.length - 1 - distance;
  }

  #length(lengths: Lengths, position: number): number {
    if (this.#bit(lengths.choice, 0) === 0) return this.#tree(lengths.low, position << 3, 3);
    if (this.#bit(lengths.choice, 1) === 0) return 8 + this.#tree(lengths.middle, position << 3, 3);
    return 16 + this.#tree(lengths.high, 0, 8);
  }

  #distance(length: number): number {
    const slot = this.#tree(this.#slots, Math.min(length, 3) << 6, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const base = (2 | (slot & 1)) * 2 ** bits;
    if (slot < 14) return base + this.#reverse(this.#special, base - slot, bits);
    return base + this.#direct(bits - 4) * 16 + this.#reverse(this.#align, 0, 4);
  }

  #tree(probabilities: Uint16Array, from: number, bits: number): number {
    let symbol = 1;
    for (let i = 0; i < bits; i++) symbol = (symbol << 1) | this.#bit(probabilities, from + symbol);
    return symbol - (1 << bits);
  }

  #reverse(probabilities: Uint16Array, from: number, bits: number): number {
    let symbol = 1;
    let value = 0;
    for (let i = 0; i < bits; i++) {
      const bit = this.#bit(probabilities, from + symbol);
      symbol = (symbol << 1) | bit;
      value |= bit << i;
    }
    return value;
  }

  #direct(bits: number): number {
    let value = 0;
    for (let i = 0; i < bits; i++) {
      this.#normalise();
      this.#range >>>= 1;
      const bit = this.#code >= this.#range ? 1 : 0;
      if (bit === 1) this.#code -= this.#range;
      value = value * 2 + bit;
    }
    return value;
  }

  #bit(probabilities: Uint16Array, index: number): number {
    this.#normalise();
    const probability = probabilities[index]!;
    const bound = (this.#range >>> 11) * probability;
    if (this.#code < bound) {
      this.#range = bound;
      probabilities[index] = probability + ((2048 - probability) >> 5);
      return 0;
    }
    this.#range -= bound;
    this.#code -= bound;
    probabilities[index] = probability - (probability >> 5);
    return 1;
  }

  #normalise(): void {
    if (this.#range >= 0x1000000) return;
    this.#range = (this.#range << 8) >>> 0;
    this.#code = ((this.#code << 8) | this.#next()) >>> 0;
  }

  #next(): number {
    if (this.#at > this.#input.length) throw new Error("a chunk ends too early");
    return this.#input[this.#at++] ?? 0;
  }
}
