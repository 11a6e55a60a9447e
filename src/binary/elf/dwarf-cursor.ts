import { HermesError } from "../../nouns/errors.js";
import { asciiText, decodeText } from "../../nouns/text.js";

const WORD = 2 ** 32;
/** As many bytes as a number of 64 bits takes in LEB128. */
const LONGEST_LEB = 10;

/** Debug information or unwind tables contradict themselves. Callers use what they read before, or do without. */
export class BadDwarf extends RangeError {}

/** What a reader returns; undefined where the file is broken. */
export function unlessBroken<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError || error instanceof HermesError) return undefined;
    throw error;
  }
}

/** Little-endian bytes of an ELF file, with the address at which they are loaded. */
export class DwarfBytes {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly address: number;

  constructor(bytes: Uint8Array, address = 0) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.address = address;
  }

  get length(): number {
    return this.bytes.length;
  }
}

/** Reads DWARF's numbers and texts one after the other. Reading past the end throws BadDwarf. */
export class DwarfCursor {
  readonly bytes: DwarfBytes;
  at: number;
  readonly end: number;

  constructor(bytes: DwarfBytes, at = 0, end: number = bytes.length) {
    if (!(at >= 0 && at <= end && end <= bytes.length)) throw new BadDwarf("a table ends too soon");
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  #take(length: number): number {
    const { at } = this;
    if (!(length >= 0 && length <= this.end - at)) throw new BadDwarf("a table ends too soon");
    this.at = at + length;
    return at;
  }

  get more(): boolean {
    return this.at < this.end;
  }

  skip(length: number): void {
    this.#take(length);
  }

  u8(): number {
    return this.bytes.bytes[this.#take(1)]!;
  }
  s8(): number {
    return this.bytes.view.getInt8(this.#take(1));
  }
  u16(): number {
    return this.bytes.view.getUint16(this.#take(2), true);
  }
  s16(): number {
    return this.bytes.view.getInt16(this.#take(2), true);
  }
  u24(): number {
    const at = this.#take(3);
    return this.bytes.view.getUint16(at, true) | (this.bytes.bytes[at + 2]! << 16);
  }
  u32(): number {
    return this.bytes.view.getUint32(this.#take(4), true);
  }
  s32(): number {
    return this.bytes.view.getInt32(this.#take(4), true);
  }
  /** Numbers beyond 2^53 are rounded: no file is that large, so every check of bounds refuses them. */
  u64(): number {
    const at = this.#take(8);
    return this.bytes.view.getUint32(at, true) + this.bytes.view.getUint32(at + 4, true) * WORD;
  }
  s64(): number {
    const at = this.#take(8);
    return this.bytes.view.getUint32(at, true) + this.bytes.view.getInt32(at + 4, true) * WORD;
  }

  /** An offset into a section: 8 bytes in 64-bit DWARF, else 4. */
  offset(wide: boolean): number {
    return wide ? this.u64() : this.u32();
  }

  uleb(): number {
    return this.#leb(false);
  }

  sleb(): number {
    return this.#leb(true);
  }

  #leb(signed: boolean): number {
    let value = 0;
    for (let i = 0, scale = 1; i < LONGEST_LEB; i++, scale *= 128) {
      const byte = this.u8();
      value += (byte & 127) * scale;
      if (byte < 128) return signed && (byte & 64) !== 0 ? value - scale * 128 : value;
    }
    throw new BadDwarf("a number is too long");
  }

  /** Text up to a zero byte, which must come after `longest` bytes at most. */
  text(longest = Infinity): string {
    const { at } = this;
    const { bytes } = this.bytes;
    const rest = bytes.subarray(at, Math.min(this.end, at + longest + 1));
    const length = rest.indexOf(0);
    if (length < 0) throw new BadDwarf("a text has no end");
    this.at = at + length + 1;
    return asciiText(bytes, at, at + length) ?? decodeText(rest.subarray(0, length));
  }

  /** A cursor over the next bytes; this one continues behind them. */
  block(length: number): DwarfCursor {
    const at = this.#take(length);
    return new DwarfCursor(this.bytes, at, at + length);
  }
}
