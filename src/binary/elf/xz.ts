import { LzmaDecoder } from "./lzma.js";

/**
 * The .xz format (tukaani.org/xz/xz-file-format.txt) as far as .gnu_debugdata uses it: blocks of LZMA2, no other filter.
 * Written here because the packages there are either cannot be called without waiting or cannot be given a limit, and
 * what is unpacked is hostile. Checksums are not looked at: what comes out is checked as any other ELF file is.
 */
export function unpackXz(bytes: Uint8Array, most: number): Uint8Array {
  const MAGIC = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00];
  if (bytes.length < 24 || MAGIC.some((byte, i) => bytes[i] !== byte)) throw new Error("not an xz file");
  const checkSize = CHECK_SIZES[Math.ceil((bytes[7]! & 15) / 3)]!;
  const output = new Output(most);
  let at = 12;
  while (at < bytes.length && bytes[at] !== 0) {
    const dictionary = readBlockHeader(bytes, at);
    at += (bytes[at]! + 1) * 4;
    at = unpackLzma2(bytes, at, output, dictionary);
    at += ((4 - (at % 4)) % 4) + checkSize;
  }
  return output.bytes.subarray(0, output.length);
}

/** By the check's number: none, 1 to 3, 4 to 6, … */
const CHECK_SIZES = [0, 4, 8, 16, 32, 64];
const LZMA2 = 0x21;

/** What is unpacked so far: matches are copied out of it, so it is the dictionary too. */
export class Output {
  bytes = new Uint8Array(1 << 16);
  length = 0;
  /** Where the dictionary was last forgotten: no match reaches before it. */
  start = 0;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  reserve(count: number): void {
    const needed = this.length + count;
    if (needed > this.#most) throw new Error(`more than ${this.#most} bytes`);
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}

/** The size of the dictionary; throws when there is any other filter. */
function readBlockHeader(bytes: Uint8Array, from: number): number {
  const end = from + (bytes[from]! + 1) * 4;
  if (end > bytes.length) throw new Error("a block ends within its header");
  const flags = bytes[from + 1]!;
  if ((flags & 3) !== 0) throw new Error("more than one filter");
  let at = from + 2;
  const number = () => {
    let value = 0;
    for (let shift = 0; shift < 56; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if ((byte & 0x80) === 0) return value;
    }
    throw new Error("a number without end");
  };
  if ((flags & 0x40) !== 0) number();
  if ((flags & 0x80) !== 0) number();
  if (number() !== LZMA2 || number() !== 1) throw new Error("a filter other than LZMA2");
  const bits = bytes[at]! & 0x3f;
  if (bits > 40) throw new Error("a dictionary of no size");
  return bits === 40 ? 0xffffffff : (2 | (bits & 1)) * 2 ** (Math.floor(bits / 2) + 11);
}

/** Unpacks chunk by chunk; returns where the block's data ends. */
function unpackLzma2(bytes: Uint8Array, from: number, output: Output, dictionary: number): number {
  const lzma = new LzmaDecoder(output, dictionary);
  let at = from;
  let fresh = true;
  for (;;) {
    if (at >= bytes.length) throw new Error("a block without end");
    const control = bytes[at++]!;
    if (control === 0) return at;
    if (at + 5 > bytes.length) throw new Error("a chunk ends within its header");
    const forgets = control === 1 || control >= 0xe0;
    if (fresh && !forgets) throw new Error("a dictionary is used that is not there");
    fresh = false;
    if (forgets) output.start = output.length;
    const size = (control < 0x80 ? 0 : (control & 0x1f) << 16) + (bytes[at]! << 8) + bytes[at + 1]! + 1;
    output.reserve(size);
    if (control < 0x80) {
      if (control > 2) throw new Error("a chunk of no kind");
      if (at + 2 + size > bytes.length) throw new Error("a chunk ends outside the file");
      output.bytes.set(bytes.subarray(at + 2, at + 2 + size), output.length);
      output.length += size;
      at += 2 + size;
      continue;
    }
    const packed = (bytes[at + 2]! << 8) + bytes[at + 3]! + 1;
    at += 4;
    if (control >= 0xc0) lzma.setProperties(bytes[at++]!);
    if (control >= 0xa0) lzma.reset();
    if (at + packed > bytes.length) throw new Error("a chunk ends outside the file");
    lzma.decode(bytes.subarray(at, at + packed), size);
    at += packed;
  }
}
