import { BadDwarf, type DwarfCursor } from "./dwarf-cursor.js";

/** How many bytes a value takes: that many, or as the unit or the value itself says. */
type Width = 0 | 1 | 2 | 3 | 4 | 8 | 16 | "uleb" | "sleb" | "offset" | "address" | "reference";

/** What the number of a form is. */
type Meaning =
  | "number"
  /** Relative to the unit. */
  | "reference"
  /** The length of bytes that follow. */
  | "block"
  /** The text itself follows. */
  | "text"
  /** Where in .debug_str, .debug_line_str, .debug_str_offsets. */
  | "string"
  | "line string"
  | "string index"
  /** Nothing follows: the value is 1, or in the abbreviation. */
  | "present"
  | "implicit"
  /** The form follows. */
  | "indirect"
  /** In another file, or more than a number. */
  | "unread";

interface Form {
  readonly width: Width;
  readonly meaning: Meaning;
}

const form = (meaning: Meaning, width: Width): Form => ({ meaning, width });

/** DW_FORM_*: DWARF 5, 7.5.6, and what GNU added. */
const FORMS: Readonly<Record<number, Form>> = {
  1: form("number", "address"), // addr
  3: form("block", 2), // block2
  4: form("block", 4), // block4
  5: form("number", 2), // data2
  6: form("number", 4), // data4
  7: form("number", 8), // data8
  8: form("text", 0), // string
  9: form("block", "uleb"), // block
  10: form("block", 1), // block1
  11: form("number", 1), // data1
  12: form("number", 1), // flag
  13: form("number", "sleb"), // sdata
  14: form("string", "offset"), // strp
  15: form("number", "uleb"), // udata
  16: form("number", "reference"), // ref_addr
  17: form("reference", 1), // ref1
  18: form("reference", 2), // ref2
  19: form("reference", 4), // ref4
  20: form("reference", 8), // ref8
  21: form("reference", "uleb"), // ref_udata
  22: form("indirect", "uleb"), // indirect
  23: form("number", "offset"), // sec_offset
  24: form("block", "uleb"), // exprloc
  25: form("present", 0), // flag_present
  26: form("string index", "uleb"), // strx
  27: form("number", "uleb"), // addrx
  28: form("unread", 4), // ref_sup4
  29: form("unread", "offset"), // strp_sup
  30: form("unread", 16), // data16
  31: form("line string", "offset"), // line_strp
  32: form("unread", 8), // ref_sig8
  33: form("implicit", 0), // implicit_const
  34: form("number", "uleb"), // loclistx
  35: form("number", "uleb"), // rnglistx
  36: form("unread", 8), // ref_sup8
  37: form("string index", 1), // strx1
  38: form("string index", 2), // strx2
  39: form("string index", 3), // strx3
  40: form("string index", 4), // strx4
  41: form("number", 1), // addrx1
  42: form("number", 2), // addrx2
  43: form("number", 3), // addrx3
  44: form("number", 4), // addrx4
  7937: form("number", "uleb"), // GNU_addr_index
  7938: form("string index", "uleb"), // GNU_str_index
  7968: form("unread", "offset"), // GNU_ref_alt
  7969: form("unread", "offset"), // GNU_strp_alt
};

export const INDIRECT = 0x16;
export const IMPLICIT_CONST = 0x21;

export function formOf(code: number): Form {
  const found = FORMS[code];
  if (!found) throw new BadDwarf(`the form 0x${code.toString(16)} is not known`);
  return found;
}

/** What a unit says of the width of its values. */
export interface UnitFormat {
  readonly version: number;
  readonly addressSize: number;
  readonly is64: boolean;
}

/** Where the texts are that forms refer to. */
export interface TextSections {
  /** .debug_str */
  readonly str: Uint8Array;
  /** .debug_line_str */
  readonly lineStr: Uint8Array;
}

/** The section in which a form's number is the offset of a text; undefined for other forms. */
export function textSection({ meaning }: Form, { str, lineStr }: TextSections): Uint8Array | undefined {
  if (meaning === "string") return str;
  return meaning === "line string" ? lineStr : undefined;
}

/** Reads the number of a form; a block is skipped as well. */
export function readFormNumber(cursor: DwarfCursor, { meaning, width }: Form, unit: UnitFormat): number {
  const value = readWidth(cursor, width, unit);
  if (meaning === "block") cursor.skip(value);
  return value;
}

function readWidth(cursor: DwarfCursor, width: Width, unit: UnitFormat): number {
  switch (width) {
    case 0:
      return 0;
    case 1:
      return cursor.u8();
    case 2:
      return cursor.u16();
    case 3:
      return cursor.u24();
    case 4:
      return cursor.u32();
    case 8:
      return cursor.u64();
    case 16:
      cursor.skip(16);
      return 0;
    case "uleb":
      return cursor.uleb();
    case "sleb":
      return cursor.sleb();
    case "offset":
      return cursor.offset(unit.is64);
    case "address":
      return cursor.offset(unit.addressSize === 8);
    case "reference":
      // Until version 2 as wide as an address.
      return cursor.offset(unit.version === 2 && unit.addressSize === 8 ? true : unit.is64);
  }
}
