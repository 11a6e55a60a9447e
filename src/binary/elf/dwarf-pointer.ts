import { BadDwarf, type DwarfCursor } from "./dwarf-cursor.js";

/** How unwind tables write a pointer: DW_EH_PE_*, Linux Standard Base, "DWARF Extensions". */
const RELATIVE = { none: 0, place: 0x10, data: 0x30, function: 0x40, aligned: 0x50 } as const;
const INDIRECT = 0x80;
/** There is no pointer. */
export const OMITTED = 0xff;

const FORMATS: Readonly<Record<number, (cursor: DwarfCursor) => number>> = {
  0: (cursor) => cursor.u64(), // absolute
  1: (cursor) => cursor.uleb(),
  2: (cursor) => cursor.u16(),
  3: (cursor) => cursor.u32(),
  4: (cursor) => cursor.u64(),
  9: (cursor) => cursor.sleb(),
  10: (cursor) => cursor.s16(),
  11: (cursor) => cursor.s32(),
  12: (cursor) => cursor.s64(),
};

/** The addresses that pointers may be relative to. */
export interface Bases {
  /** Where .eh_frame_hdr is loaded. */
  readonly data: number;
  /** Where the function begins that the entry describes. */
  readonly function: number;
}

/** Reads an address. Pointers to pointers are refused: only personality routines have them. */
export function readPointer(cursor: DwarfCursor, encoding: number, bases: Bases): number {
  const from = baseOf(cursor, encoding, bases);
  return from + readFormat(cursor, encoding);
}

/** The same where zero, before the base is added, means that there is no pointer. */
export function readOptionalPointer(cursor: DwarfCursor, encoding: number, bases: Bases): number | undefined {
  const from = baseOf(cursor, encoding, bases);
  const value = readFormat(cursor, encoding);
  return value === 0 ? undefined : from + value;
}

/** Passes over a pointer that the caller does not need. */
export function skipPointer(cursor: DwarfCursor, encoding: number): void {
  if (encoding === OMITTED) return;
  align(cursor, encoding);
  readFormat(cursor, encoding);
}

function baseOf(cursor: DwarfCursor, encoding: number, bases: Bases): number {
  if (encoding & INDIRECT) throw new BadDwarf("a pointer to a pointer");
  align(cursor, encoding);
  switch (encoding & 0x70) {
    case RELATIVE.none:
    case RELATIVE.aligned:
      return 0;
    case RELATIVE.place:
      return cursor.bytes.address + cursor.at;
    case RELATIVE.data:
      return bases.data;
    case RELATIVE.function:
      return bases.function;
    default:
      throw new BadDwarf("a pointer with an unknown base");
  }
}

function align(cursor: DwarfCursor, encoding: number): void {
  if ((encoding & 0x70) === RELATIVE.aligned) cursor.skip(-(cursor.bytes.address + cursor.at) & 7);
}

function readFormat(cursor: DwarfCursor, encoding: number): number {
  const read = FORMATS[encoding & 15];
  if (!read) throw new BadDwarf("a pointer of an unknown format");
  return read(cursor);
}
