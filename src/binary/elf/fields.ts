import { asciiText, decodeText } from "../../nouns/text.js";

/** Reads numbers at offsets, in either width and byte order. The caller has checked the bounds. */
export class Fields {
  readonly #view: DataView;
  readonly #little: boolean;
  readonly wide: boolean;

  constructor(
    readonly bytes: Uint8Array,
    wide: boolean,
    little: boolean,
  ) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#little = little;
    this.wide = wide;
  }

  get length(): number {
    return this.bytes.length;
  }

  u8(at: number): number {
    return this.bytes[at]!;
  }

  u16(at: number): number {
    return this.#view.getUint16(at, this.#little);
  }

  u32(at: number): number {
    return this.#view.getUint32(at, this.#little);
  }

  i32(at: number): number {
    return this.#view.getInt32(at, this.#little);
  }

  /**
   * No address or size is as large as 2^52: what is, becomes Infinity and fails every check of bounds. So the sum of two
   * is a number that one can still be added to.
   */
  u64(at: number): number {
    const low = this.#view.getUint32(this.#little ? at : at + 4, this.#little);
    const high = this.#view.getUint32(this.#little ? at + 4 : at, this.#little);
    return high < 0x100000 ? high * 0x100000000 + low : Infinity;
  }

  i64(at: number): number {
    return Number(this.#view.getBigInt64(at, this.#little));
  }

  /** A number as wide as the file's addresses. */
  word(at: number): number {
    return this.wide ? this.u64(at) : this.u32(at);
  }
}

const LONGEST_NAME = 0x2000;

/** Names that lie over each other could fill any memory: all those of a table together are no longer than this. */
export const MOST_TEXT = 1 << 27;

/** A name that ends with a zero byte; undefined when it begins outside. Longer ones are cut. */
export function nameAt(strings: Uint8Array, at: number): string | undefined {
  if (!(at >= 0 && at < strings.length)) return undefined;
  const end = strings.indexOf(0, at);
  const to = Math.min(end < 0 ? strings.length : end, at + LONGEST_NAME);
  return asciiText(strings, at, to) ?? decodeText(strings.subarray(at, to));
}
