/** How a pointer in unwind tables is written (DW_EH_PE_*, LSB core, "DWARF Extensions"). */
const ENCODING = {
  absolute: 0,
  uleb: 1,
  u16: 2,
  u32: 3,
  u64: 4,
  sleb: 9,
  s16: 10,
  s32: 11,
  s64: 12,
} as const;
const RELATIVE = { none: 0, place: 0x10, data: 0x30, function: 0x40, aligned: 0x50 } as const;
export const OMITTED = 0xff;
const INDIRECT = 0x80;
const WORD = 2 ** 32;
const LONGEST_LEB = 10;
const LONGEST_TEXT = 64;

/** The tables say something that cannot be: whoever reads them goes without. */
export class BadTable extends Error {}

/** Bytes of an ELF file with the address that they are loaded at. Whatever leaves them throws BadTable. */
export class Bytes {
  readonly view: DataView;
  readonly address: number;

  constructor(bytes: Uint8Array, address: number) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.address = address;
  }

  get length(): number {
    return this.view.byteLength;
  }
}

/** What pointers may count from. */
export interface Bases {
  /** Where .eh_frame_hdr is loaded. */
  readonly data: number;
  /** Where the function begins that is being told about. */
  readonly function: number;
}

/** Reads on through some bytes, up to an end. */
export class Cursor {
  readonly bytes: Bytes;
  at: number;
  readonly end: number;

  constructor(bytes: Bytes, at: number, end: number = bytes.length) {
    if (!(at >= 0 && at <= end && end <= bytes.length)) throw new BadTable("a table that ends too soon");
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  #take(length: number): number {
    const { at } = this;
    if (!(length >= 0 && length <= this.end - at)) throw new BadTable("a table that ends too soon");
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
    return this.bytes.view.getUint8(this.#take(1));
  }
  u16(): number {
    return this.bytes.view.getUint16(this.#take(2), true);
  }
  s16(): number {
    return this.bytes.view.getInt16(this.#take(2), true);
  }
  u32(): number {
    return this.bytes.view.getUint32(this.#take(4), true);
  }
  s32(): number {
    return this.bytes.view.getInt32(this.#take(4), true);
  }
  u64(): number {
    const low = this.u32();
    return low + this.u32() * WORD;
  }
  s64(): number {
    const low = this.u32();
    return low + this.s32() * WORD;
  }

  uleb(): number {
    let value = 0;
    for (let i = 0, scale = 1; i < LONGEST_LEB; i++, scale *= 128) {
      const byte = this.u8();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new BadTable("a number without an end");
  }

  sleb(): number {
    let value = 0;
    for (let i = 0, scale = 1; i < LONGEST_LEB; i++, scale *= 128) {
      const byte = this.u8();
      value += (byte & 127) * scale;
      if (byte < 128) return byte & 64 ? value - scale * 128 : value;
    }
    throw new BadTable("a number without an end");
  }

  /** Text up to a zero byte. */
  text(): string {
    let text = "";
    for (let byte = this.u8(); byte !== 0; byte = this.u8()) {
      if (text.length >= LONGEST_TEXT) throw new BadTable("a text without an end");
      text += String.fromCharCode(byte);
    }
    return text;
  }

  /** A piece of the same bytes, and goes on behind it. */
  block(length: number): Cursor {
    const at = this.#take(length);
    return new Cursor(this.bytes, at, at + length);
  }

  /** An address as the encoding says. Pointers to pointers are not followed: only language tables have them. */
  pointer(encoding: number, bases: Bases): number {
    if (encoding & INDIRECT) throw new BadTable("a pointer to a pointer");
    if ((encoding & 0x70) === RELATIVE.aligned) this.skip(-(this.bytes.address + this.at) & 7);
    const place = this.bytes.address + this.at;
    const value = this.#encoded(encoding & 15);
    switch (encoding & 0x70) {
      case RELATIVE.none:
      case RELATIVE.aligned:
        return value;
      case RELATIVE.place:
        return place + value;
      case RELATIVE.data:
        return bases.data + value;
      case RELATIVE.function:
        return bases.function + value;
      default:
        throw new BadTable("a pointer that counts from an unknown place");
    }
  }

  #encoded(format: number): number {
    switch (format) {
      case ENCODING.absolute:
      case ENCODING.u64:
        return this.u64();
      case ENCODING.uleb:
        return this.uleb();
      case ENCODING.u16:
        return this.u16();
      case ENCODING.u32:
        return this.u32();
      case ENCODING.sleb:
        return this.sleb();
      case ENCODING.s16:
        return this.s16();
      case ENCODING.s32:
        return this.s32();
      case ENCODING.s64:
        return this.s64();
      default:
        throw new BadTable("a pointer of an unknown form");
    }
  }

  /** Passes over a pointer that nobody wants, whatever it counts from. */
  skipPointer(encoding: number): void {
    if (encoding === OMITTED) return;
    if ((encoding & 0x70) === RELATIVE.aligned) this.skip(-(this.bytes.address + this.at) & 7);
    this.#encoded(encoding & 15);
  }
}
