import { posix } from "node:path";
import {
  BadDwarf,
  type DwarfCursor,
  formOf,
  nameAt,
  readFormNumber,
  type TextSections,
  textSection,
  type UnitFormat,
} from "../../binary/elf/index.js";

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

export function readHeader(cursor: DwarfCursor, names: TextSections): LineHeader {
  const first = cursor.u32();
  const wide = first === 0xffff_ffff;
  const length = wide ? cursor.u64() : first;
  const end = cursor.at + length;
  if (!(end <= cursor.end)) throw new BadDwarf("a unit that ends behind the table");
  const version = cursor.u16();
  if (version < 2 || version > 5) throw new BadDwarf(`version ${version}`);
  if (version === 5) cursor.skip(2); // sizes of addresses and of segments
  const headerLength = cursor.offset(wide);
  const program = cursor.at + headerLength;
  const leastInstruction = cursor.u8();
  if (version >= 4) cursor.skip(1); // operations per instruction: one, but for VLIW machines
  const isStatement = cursor.u8() !== 0;
  const lineBase = cursor.s8();
  const lineRange = cursor.u8();
  const opcodeBase = cursor.u8();
  if (lineRange === 0 || opcodeBase === 0 || !(program <= end)) throw new BadDwarf("a broken header");
  const operands = Array.from({ length: opcodeBase - 1 }, () => cursor.u8());
  const files =
    version === 5 ? filesOf5(cursor, { version, addressSize: 8, is64: wide }, names) : filesOf4(cursor);
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
function filesOf4(cursor: DwarfCursor): string[] {
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

function filesOf5(cursor: DwarfCursor, unit: UnitFormat, names: TextSections): string[] {
  const folders = entries(cursor, unit, names).map(({ path }) => path);
  const [root = ""] = folders;
  const whole = folders.map((folder) => posix.resolve("/", root, folder));
  return entries(cursor, unit, names).map(({ path, directory }) =>
    path.startsWith("/") ? path : posix.join(whole[directory] ?? root, path),
  );
}

/** A table that says how it is to be read (DWARF 5, 6.2.4.1). */
function entries(
  cursor: DwarfCursor,
  unit: UnitFormat,
  names: TextSections,
): { path: string; directory: number }[] {
  const format = Array.from({ length: cursor.u8() }, () => [cursor.uleb(), cursor.uleb()] as const);
  const count = cursor.uleb();
  const all: { path: string; directory: number }[] = [];
  for (let i = 0; i < count && format.length > 0; i++) {
    const entry = { path: "", directory: 0 };
    for (const [content, form] of format) {
      const value = formValue(cursor, form, unit, names);
      if (content === CONTENT.path) entry.path = String(value);
      else if (content === CONTENT.directory) entry.directory = Number(value);
    }
    push(all, entry);
  }
  return all;
}

function push<T>(list: T[], entry: T): void {
  if (list.length >= MOST_NAMES) throw new BadDwarf("too many files");
  list.push(entry);
}

function formValue(
  cursor: DwarfCursor,
  code: number,
  unit: UnitFormat,
  names: TextSections,
): string | number {
  const form = formOf(code);
  if (form.meaning === "text") return cursor.text();
  const value = readFormNumber(cursor, form, unit);
  const texts = textSection(form, names);
  if (texts) return nameAt(texts, value) ?? "";
  switch (form.meaning) {
    case "number":
      return value;
    case "block":
    case "unread":
      return 0;
    default:
      throw new BadDwarf(`the form 0x${code.toString(16)} has no place in a table of files`);
  }
}
