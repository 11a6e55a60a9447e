import { posix } from "node:path";
import { nameAt } from "../elf/fields.js";
import { BadLines, type LineCursor } from "./line-cursor.js";

/** Where names that a table points at are kept. */
export interface Names {
  readonly strings: Uint8Array;
  readonly lineStrings: Uint8Array;
}

/** What a line program begins with (DWARF 6.2.4). */
export interface LineHeader {
  readonly wide: boolean;
  readonly leastInstruction: number;
  readonly isStatement: boolean;
  readonly lineBase: number;
  readonly lineRange: number;
  readonly opcodeBase: number;
  /** How many operands the standard opcodes have. */
  readonly operands: readonly number[];
  /** By the numbers that the program uses. */
  readonly files: readonly string[];
  readonly program: number;
  readonly end: number;
}

const MOST_NAMES = 100_000;
const CONTENT = { path: 1, directory: 2 } as const;
const FORM = {
  block2: 0x03,
  block4: 0x04,
  data2: 0x05,
  data4: 0x06,
  data8: 0x07,
  string: 0x08,
  block: 0x09,
  block1: 0x0a,
  data1: 0x0b,
  strp: 0x0e,
  udata: 0x0f,
  data16: 0x1e,
  lineStrp: 0x1f,
} as const;

export function readHeader(cursor: LineCursor, names: Names): LineHeader {
  const first = cursor.u32();
  const wide = first === 0xffff_ffff;
  const length = wide ? cursor.u64() : first;
  const end = cursor.at + length;
  if (!(end <= cursor.end)) throw new BadLines("a unit that ends behind the table");
  const version = cursor.u16();
  if (version < 2 || version > 5) throw new BadLines(`version ${version}`);
  if (version === 5) cursor.skip(2); // sizes of addresses and of segments
  const headerLength = cursor.offset(wide);
  const program = cursor.at + headerLength;
  const leastInstruction = cursor.u8();
  if (version >= 4) cursor.skip(1); // operations per instruction: one, but for VLIW machines
  const isStatement = cursor.u8() !== 0;
  const lineBase = cursor.i8();
  const lineRange = cursor.u8();
  const opcodeBase = cursor.u8();
  if (lineRange === 0 || opcodeBase === 0 || !(program <= end)) throw new BadLines("a broken header");
  const operands = Array.from({ length: opcodeBase - 1 }, () => cursor.u8());
  const files = version === 5 ? filesOf5(cursor, wide, names) : filesOf4(cursor);
  return {
    wide,
    leastInstruction,
    isStatement,
    lineBase,
    lineRange,
    opcodeBase,
    operands,
    files,
    program,
    end,
  };
}

/** Up to version 4: names end with a zero byte, numbers begin with 1. */
function filesOf4(cursor: LineCursor): string[] {
  const folders = [""];
  for (let name = cursor.text(); name !== ""; name = cursor.text()) push(folders, name);
  const files = [""];
  for (let name = cursor.text(); name !== ""; name = cursor.text()) {
    const folder = folders[cursor.uleb()] ?? "";
    cursor.uleb();
    cursor.uleb();
    push(files, posix.join(folder, name));
  }
  return files;
}

function filesOf5(cursor: LineCursor, wide: boolean, names: Names): string[] {
  const folders = entries(cursor, wide, names).map(({ path }) => path);
  const [root = ""] = folders;
  const whole = folders.map((folder) => posix.resolve("/", root, folder));
  return entries(cursor, wide, names).map(({ path, directory }) =>
    path.startsWith("/") ? path : posix.join(whole[directory] ?? root, path),
  );
}

/** A table that says how it is to be read (DWARF 5, 6.2.4.1). */
function entries(cursor: LineCursor, wide: boolean, names: Names): { path: string; directory: number }[] {
  const format = Array.from({ length: cursor.u8() }, () => [cursor.uleb(), cursor.uleb()] as const);
  const count = cursor.uleb();
  const all: { path: string; directory: number }[] = [];
  for (let i = 0; i < count && format.length > 0; i++) {
    const entry = { path: "", directory: 0 };
    for (const [content, form] of format) {
      const value = formValue(cursor, form, wide, names);
      if (content === CONTENT.path) entry.path = String(value);
      else if (content === CONTENT.directory) entry.directory = Number(value);
    }
    push(all, entry);
  }
  return all;
}

function push<T>(list: T[], entry: T): void {
  if (list.length >= MOST_NAMES) throw new BadLines("too many files");
  list.push(entry);
}

function formValue(cursor: LineCursor, form: number, wide: boolean, names: Names): string | number {
  switch (form) {
    case FORM.string:
      return cursor.text();
    case FORM.lineStrp:
      return nameAt(names.lineStrings, cursor.offset(wide)) ?? "";
    case FORM.strp:
      return nameAt(names.strings, cursor.offset(wide)) ?? "";
    case FORM.udata:
      return cursor.uleb();
    case FORM.data1:
      return cursor.u8();
    case FORM.data2:
      return cursor.u16();
    case FORM.data4:
      return cursor.u32();
    case FORM.data8:
      return cursor.u64();
    case FORM.data16:
      cursor.skip(16);
      return 0;
    case FORM.block:
      cursor.skip(cursor.uleb());
      return 0;
    case FORM.block1:
      cursor.skip(cursor.u8());
      return 0;
    case FORM.block2:
      cursor.skip(cursor.u16());
      return 0;
    case FORM.block4:
      cursor.skip(cursor.u32());
      return 0;
    default:
      throw new BadLines(`form 0x${form.toString(16)}`);
  }
}
