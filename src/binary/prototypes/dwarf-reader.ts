import {
  BadDwarf,
  DwarfBytes,
  DwarfCursor,
  formOf,
  IMPLICIT_CONST,
  INDIRECT,
  nameAt,
  readFormNumber,
  type TextSections,
  textSection,
  type UnitFormat,
} from "../elf/index.js";

/** Reading of .debug_info: units, abbreviations, attributes in all forms of DWARF 2 to 5. Bounded; BadDwarf on garbage. */

interface DwarfSections extends TextSections {
  readonly info: Uint8Array;
  readonly abbrev: Uint8Array;
  readonly strOffsets: Uint8Array;
}

export interface Unit extends UnitFormat {
  /** Where its header begins, its first entry, and what follows it. */
  readonly offset: number;
  readonly entries: number;
  readonly end: number;
  readonly abbreviations: ReadonlyMap<number, Abbreviation>;
  /** Into .debug_str_offsets; found in the unit's first entry. */
  strOffsetsBase: number;
}

interface Abbreviation {
  readonly tag: number;
  readonly hasChildren: boolean;
  /** Name, form and implicit value, in turns. */
  readonly attributes: readonly number[];
}

/** One entry: only the attributes that were asked for. */
export interface DwarfEntry {
  readonly offset: number;
  readonly tag: number;
  readonly hasChildren: boolean;
  readonly next: number;
  readonly values: ReadonlyMap<number, number | string>;
}

const STR_OFFSETS_BASE = 0x72;
const MAX_ATTRIBUTES = 4096;
const MAX_ABBREVIATIONS = 1 << 20;

export class DwarfReader {
  readonly #sections: DwarfSections;
  readonly #info: DwarfBytes;
  readonly #abbrev: DwarfBytes;
  readonly #strOffsets: DwarfBytes;
  readonly #abbreviations = new Map<number, ReadonlyMap<number, Abbreviation>>();

  constructor(sections: DwarfSections) {
    this.#sections = sections;
    this.#info = new DwarfBytes(sections.info);
    this.#abbrev = new DwarfBytes(sections.abbrev);
    this.#strOffsets = new DwarfBytes(sections.strOffsets);
  }

  get size(): number {
    return this.#info.length;
  }

  /** The unit whose header is there. */
  unit(offset: number): Unit {
    const cursor = new DwarfCursor(this.#info, offset);
    let length = cursor.u32();
    const is64 = length === 0xffffffff;
    if (is64) length = cursor.u64();
    const end = cursor.at + length;
    if (!(end <= this.#info.length) || length < 7) throw new BadDwarf("a unit does not fit");
    const version = cursor.u16();
    if (version < 2 || version > 5) throw new BadDwarf(`DWARF ${version} is not known`);
    const kind = version >= 5 ? cursor.u8() : 1;
    const early = version >= 5 ? cursor.u8() : 0;
    const table = cursor.offset(is64);
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
    const cursor = new DwarfCursor(this.#abbrev, offset);
    for (let code = cursor.uleb(); code !== 0; code = cursor.uleb()) {
      if (table.size >= MAX_ABBREVIATIONS) throw new BadDwarf("there are too many abbreviations");
      const tag = cursor.uleb();
      const hasChildren = cursor.u8() !== 0;
      const attributes: number[] = [];
      for (;;) {
        const name = cursor.uleb();
        const form = cursor.uleb();
        const implicit = form === IMPLICIT_CONST ? cursor.sleb() : 0;
        if (name === 0 && form === 0) break;
        attributes.push(name, form, implicit);
        if (attributes.length > MAX_ATTRIBUTES) throw new BadDwarf("there are too many attributes");
      }
      table.set(code, { tag, hasChildren, attributes });
      if (cursor.at >= this.#abbrev.length) break;
    }
    this.#abbreviations.set(offset, table);
    return table;
  }

  /** The entry there; undefined at the end of a list of children. */
  entry(unit: Unit, offset: number, wanted: ReadonlySet<number>): DwarfEntry | undefined {
    if (!(offset >= unit.offset && offset < unit.end))
      throw new BadDwarf("an entry lies outside of its unit");
    const cursor = new DwarfCursor(this.#info, offset);
    const code = cursor.uleb();
    if (code === 0) return undefined;
    const abbreviation = unit.abbreviations.get(code);
    if (!abbreviation) throw new BadDwarf(`there is no abbreviation ${code}`);
    const { attributes, tag, hasChildren } = abbreviation;
    const values = new Map<number, number | string>();
    for (let i = 0; i < attributes.length; i += 3) {
      const name = attributes[i]!;
      const value = this.#value(unit, cursor, attributes[i + 1]!, attributes[i + 2]!, wanted.has(name));
      if (value !== undefined && wanted.has(name)) values.set(name, value);
    }
    return { offset, tag, hasChildren, next: cursor.at, values };
  }

  /** Moves on behind a value. Texts in other sections are only read when the caller wants them. */
  #value(
    unit: Unit,
    cursor: DwarfCursor,
    code: number,
    implicit: number,
    wanted: boolean,
  ): number | string | undefined {
    const form = formOf(code);
    if (form.meaning === "text") return cursor.text();
    const value = readFormNumber(cursor, form, unit);
    const texts = textSection(form, this.#sections);
    if (texts) return wanted ? textAt(texts, value) : undefined;
    switch (form.meaning) {
      case "number":
        return value;
      case "reference":
        return unit.offset + value;
      case "string index":
        return wanted ? this.#indexed(unit, value) : undefined;
      case "present":
        return 1;
      case "implicit":
        return implicit;
      case "indirect":
        if (value === INDIRECT) throw new BadDwarf("a form leads to itself");
        return this.#value(unit, cursor, value, value === IMPLICIT_CONST ? cursor.sleb() : 0, wanted);
      default:
        return undefined;
    }
  }

  #indexed(unit: Unit, index: number): string {
    const at = unit.strOffsetsBase + index * (unit.is64 ? 8 : 4);
    return textAt(this.#sections.str, new DwarfCursor(this.#strOffsets, at).offset(unit.is64));
  }
}

function textAt(bytes: Uint8Array, at: number): string {
  const text = nameAt(bytes, at);
  if (text === undefined) throw new BadDwarf("a text lies outside of its section");
  return text;
}

const ROOT = new Set([STR_OFFSETS_BASE]);
