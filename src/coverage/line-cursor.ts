import { decodeText } from "../text.js";

/** The table says something that cannot be: what was read before it stays. */
export class BadLines extends Error {}

/** Reads numbers one after the other. To read past the end is an error. */
export class LineCursor {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  at: number;
  readonly end: number;

  constructor(bytes: Uint8Array, at: number, end: number) {
    if (at < 0 || end > bytes.length || at > end) throw new BadLines("outside of the table");
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = at;
    this.end = end;
  }

  #take(length: number): number {
    const at = this.at;
    if (!(length >= 0 && at + length <= this.end)) throw new BadLines("the table ends too soon");
    this.at += length;
    return at;
  }

  skip(length: number): void {
    this.#take(length);
  }

  u8(): number {
    return this.#bytes[this.#take(1)]!;
  }

  i8(): number {
    return this.#view.getInt8(this.#take(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  u64(): number {
    return Number(this.#view.getBigUint64(this.#take(8), true));
  }

  /** An offset: as wide as the table is. */
  offset(wide: boolean): number {
    return wide ? this.u64() : this.u32();
  }

  uleb(): number {
    let value = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = this.u8();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new BadLines("a number without end");
  }

  sleb(): number {
    let value = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = this.u8();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return byte & 0x40 ? value - 2 ** (shift + 7) : value;
    }
    throw new BadLines("a number without end");
  }

  text(): string {
    const from = this.at;
    const zero = this.#bytes.indexOf(0, from);
    if (zero < 0 || zero >= this.end) throw new BadLines("a name without end");
    this.at = zero + 1;
    return decodeText(this.#bytes.subarray(from, zero));
  }
}
