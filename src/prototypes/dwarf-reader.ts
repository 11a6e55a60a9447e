/** Reading of .debug_info: units, abbreviations, attributes in all forms of DWARF 2 to 5. Bounded; RangeError on garbage. */

export interface DwarfSections {
  readonly info: Uint8Array;
  readonly abbrev: Uint8Array;
  readonly str: Uint8Array;
  readonly lineStr: Uint8Array;
  readonly strOffsets: Uint8Array;
}

export interface Unit {
  /** Where its header begins, its first entry, and what follows it. */
  readonly offset: number;
  readonly entries: number;
  readonly end: number;
  readonly version: number;
  readonly addressSize: number;
  readonly is64: boolean;
  readonly abbreviations: ReadonlyMap<number, Abbreviation>;
  /** Into .debug_str_offsets; found in the unit's first entry. */
  strOffsetsBase: number;
}

export interface Abbreviation {
  readonly tag: number;
  readonly hasChildren: boolean;
  /** Name, form and implicit value, in turns. */
  readonly attributes: readonly number[];
}

/** One entry: only the attributes that were asked for. */
export interface Entry {
  readonly offset: number;
  readonly tag: number;
  readonly hasChildren: boolean;
  readonly next: number;
  readonly values: ReadonlyMap<number, number | string>;
}

const FORM = {
  addr: 0x01,
  block2: 0x03,
  block4: 0x04,
  data2: 0x05,
  data4: 0x06,
  data8: 0x07,
  string: 0x08,
  block: 0x09,
  block1: 0x0a,
  data1: 0x0b,
  flag: 0x0c,
  sdata: 0x0d,
  strp: 0x0e,
  udata: 0x0f,
  refAddr: 0x10,
  ref1: 0x11,
  ref2: 0x12,
  ref4: 0x13,
  ref8: 0x14,
  refUdata: 0x15,
  indirect: 0x16,
  secOffset: 0x17,
  exprloc: 0x18,
  flagPresent: 0x19,
  strx: 0x1a,
  addrx: 0x1b,
  refSup4: 0x1c,
  strpSup: 0x1d,
  data16: 0x1e,
  lineStrp: 0x1f,
  refSig8: 0x20,
  implicitConst: 0x21,
  loclistx: 0x22,
  rnglistx: 0x23,
  refSup8: 0x24,
  strx1: 0x25,
  strx2: 0x26,
  strx3: 0x27,
  strx4: 0x28,
  addrx1: 0x29,
  addrx4: 0x2c,
  gnuAddrIndex: 0x1f01,
  gnuStrIndex: 0x1f02,
  gnuRefAlt: 0x1f20,
  gnuStrpAlt: 0x1f21,
} as const;

const STR_OFFSETS_BASE = 0x72;
const MAX_ATTRIBUTES = 4096;
const MAX_ABBREVIATIONS = 1 << 20;

/** A place in bytes, moving on. */
class Cursor {
  readonly #view: DataView;
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = at;
  }

  #step(count: number): number {
    const from = this.at;
    if (!(from >= 0 && count >= 0 && from + count <= this.bytes.length))
      throw new RangeError("it ends too early");
    this.at = from + count;
    return from;
  }

  skip(count: number): void {
    this.#step(count);
  }
  u8(): number {
    return this.bytes[this.#step(1)]!;
  }
  u16(): number {
    return this.#view.getUint16(this.#step(2), true);
  }
  u24(): number {
    const at = this.#step(3);
    return this.bytes[at]! | (this.bytes[at + 1]! << 8) | (this.bytes[at + 2]! << 16);
  }
  u32(): number {
    return this.#view.getUint32(this.#step(4), true);
  }
  u64(): number {
    return Number(this.#view.getBigUint64(this.#step(8), true));
  }

  uleb(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 70; scale *= 128) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new RangeError("a number is too long");
  }

  sleb(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 70; scale *= 128) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return (byte & 0x40) !== 0 ? value - scale * 128 : value;
    }
    throw new RangeError("a number is too long");
  }

  text(): string {
    const from = this.at;
    const text = textAt(this.bytes, from);
    const end = this.bytes.indexOf(0, from);
    this.at = end < 0 ? this.bytes.length : end + 1;
    return text;
  }
}

function textAt(bytes: Uint8Array, at: number): string {
  if (!(at >= 0 && at < bytes.length)) throw new RangeError("a text lies outside");
  const end = bytes.indexOf(0, at);
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, (end < 0 ? bytes.length : end) - at).toString();
}

export class DwarfReader {
  readonly #sections: DwarfSections;
  readonly #abbreviations = new Map<number, ReadonlyMap<number, Abbreviation>>();

  constructor(sections: DwarfSections) {
    this.#sections = sections;
  }

  get size(): number {
    return this.#sections.info.length;
  }

  /** The unit whose header is there. */
  unit(offset: number): Unit {
    const cursor = new Cursor(this.#sections.info, offset);
    let length = cursor.u32();
    const is64 = length === 0xffffffff;
    if (is64) length = cursor.u64();
    const end = cursor.at + length;
    if (!(end <= this.#sections.info.length) || length < 7) throw new RangeError("a unit does not fit");
    const version = cursor.u16();
    if (version < 2 || version > 5) throw new RangeError(`DWARF ${version} is not known`);
    const kind = version >= 5 ? cursor.u8() : 1;
    const early = version >= 5 ? cursor.u8() : 0;
    const table = is64 ? cursor.u64() : cursor.u32();
    const addressSize = version >= 5 ? early : cursor.u8();
    // Skeletons and split units have a number more, units of types a signature and where the type is.
    if (kind === 4 || kind === 5) cursor.skip(8);
    if (kind === 2 || kind === 6) cursor.skip(is64 ? 16 : 12);
    const unit: Unit = {
      ...{ offset, entries: cursor.at, end, version, addressSize, is64 },
      abbreviations: this.#table(table),
      strOffsetsBase: is64 ? 16 : 8,
    };
    const first = this.entry(unit, unit.entries, ROOT);
    const base = first?.values.get(STR_OFFSETS_BASE);
    if (typeof base === "number") unit.strOffsetsBase = base;
    return unit;
  }

  #table(offset: number): ReadonlyMap<number, Abbreviation> {
    const known = this.#abbreviations.get(offset);
    if (known) return known;
    const table = new Map<number, Abbreviation>();
    const cursor = new Cursor(this.#sections.abbrev, offset);
    for (let code = cursor.uleb(); code !== 0; code = cursor.uleb()) {
      if (table.size >= MAX_ABBREVIATIONS) throw new RangeError("there are too many abbreviations");
      const tag = cursor.uleb();
      const hasChildren = cursor.u8() !== 0;
      const attributes: number[] = [];
      for (;;) {
        const name = cursor.uleb();
        const form = cursor.uleb();
        const implicit = form === FORM.implicitConst ? cursor.sleb() : 0;
        if (name === 0 && form === 0) break;
        attributes.push(name, form, implicit);
        if (attributes.length > MAX_ATTRIBUTES) throw new RangeError("there are too many attributes");
      }
      table.set(code, { tag, hasChildren, attributes });
      if (cursor.at >= this.#sections.abbrev.length) break;
    }
    this.#abbreviations.set(offset, table);
    return table;
  }

  /** The entry there; undefined at the end of a list of children. */
  entry(unit: Unit, offset: number, wanted: ReadonlySet<number>): Entry | undefined {
    if (!(offset >= unit.offset && offset < unit.end))
      throw new RangeError("an entry lies outside of its unit");
    const cursor = new Cursor(this.#sections.info, offset);
    const code = cursor.uleb();
    if (code === 0) return undefined;
    const abbreviation = unit.abbreviations.get(code);
    if (!abbreviation) throw new RangeError(`there is no abbreviation ${code}`);
    const { attributes, tag, hasChildren } = abbreviation;
    const values = new Map<number, number | string>();
    for (let i = 0; i < attributes.length; i += 3) {
      const name = attributes[i]!;
      const value = this.#value(unit, cursor, attributes[i + 1]!, attributes[i + 2]!, wanted.has(name));
      if (value !== undefined && wanted.has(name)) values.set(name, value);
    }
    return { offset, tag, hasChildren, next: cursor.at, values };
  }

  /** Moves on behind a value; texts are only made when somebody wants them. */
  #value(
    unit: Unit,
    cursor: Cursor,
    form: number,
    implicit: number,
    wanted: boolean,
  ): number | string | undefined {
    switch (form) {
      case FORM.addr:
        return unit.addressSize === 8 ? cursor.u64() : cursor.u32();
      case FORM.data1:
      case FORM.flag:
      case FORM.strx1:
      case FORM.addrx1:
        return form === FORM.strx1 ? this.#indexed(unit, cursor.u8(), wanted) : cursor.u8();
      case FORM.data2:
      case FORM.addrx1 + 1:
        return cursor.u16();
      case FORM.addrx1 + 2:
        return cursor.u24();
      case FORM.data4:
      case FORM.addrx4:
      case FORM.refSup4:
        return form === FORM.refSup4 ? void cursor.u32() : cursor.u32();
      case FORM.data8:
        return cursor.u64();
      case FORM.data16:
        return void cursor.skip(16);
      case FORM.sdata:
        return cursor.sleb();
      case FORM.udata:
      case FORM.addrx:
      case FORM.loclistx:
      case FORM.rnglistx:
      case FORM.gnuAddrIndex:
        return cursor.uleb();
      case FORM.ref1:
        return unit.offset + cursor.u8();
      case FORM.ref2:
        return unit.offset + cursor.u16();
      case FORM.ref4:
        return unit.offset + cursor.u32();
      case FORM.ref8:
        return unit.offset + cursor.u64();
      case FORM.refUdata:
        return unit.offset + cursor.uleb();
      case FORM.refAddr:
        return unit.version === 2 && unit.addressSize === 8 ? cursor.u64() : offsetOf(unit, cursor);
      case FORM.secOffset:
        return offsetOf(unit, cursor);
      case FORM.flagPresent:
        return 1;
      case FORM.implicitConst:
        return implicit;
      case FORM.string:
        return cursor.text();
      case FORM.strp:
      case FORM.lineStrp: {
        const at = offsetOf(unit, cursor);
        return wanted
          ? textAt(form === FORM.strp ? this.#sections.str : this.#sections.lineStr, at)
          : undefined;
      }
      case FORM.strx:
      case FORM.gnuStrIndex:
        return this.#indexed(unit, cursor.uleb(), wanted);
      case FORM.strx2:
        return this.#indexed(unit, cursor.u16(), wanted);
      case FORM.strx3:
        return this.#indexed(unit, cursor.u24(), wanted);
      case FORM.strx4:
        return this.#indexed(unit, cursor.u32(), wanted);
      // What lies in another file is left out.
      case FORM.gnuRefAlt:
      case FORM.gnuStrpAlt:
      case FORM.strpSup:
        return void offsetOf(unit, cursor);
      case FORM.refSup8:
      case FORM.refSig8:
        return void cursor.skip(8);
      case FORM.block1:
        return void cursor.skip(cursor.u8());
      case FORM.block2:
        return void cursor.skip(cursor.u16());
      case FORM.block4:
        return void cursor.skip(cursor.u32());
      case FORM.block:
      case FORM.exprloc:
        return void cursor.skip(cursor.uleb());
      case FORM.indirect: {
        const real = cursor.uleb();
        if (real === FORM.indirect) throw new RangeError("a form leads to itself");
        return this.#value(unit, cursor, real, real === FORM.implicitConst ? cursor.sleb() : 0, wanted);
      }
      default:
        throw new RangeError(`the form 0x${form.toString(16)} is not known`);
    }
  }

  #indexed(unit: Unit, index: number, wanted: boolean): string | undefined {
    if (!wanted) return undefined;
    const cursor = new Cursor(this.#sections.strOffsets, unit.strOffsetsBase + index * (unit.is64 ? 8 : 4));
    return textAt(this.#sections.str, offsetOf(unit, cursor));
  }
}

const ROOT = new Set([STR_OFFSETS_BASE]);

function offsetOf({ is64 }: Unit, cursor: Cursor): number {
  return is64 ? cursor.u64() : cursor.u32();
}
