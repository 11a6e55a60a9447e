import {
  DwarfBytes,
  DwarfCursor,
  type Elf,
  type TextSections,
  unlessBroken,
} from "../../binary/elf/index.js";
import { type LineHeader, readHeader } from "./line-header.js";

/** From this address on up to the next row, the code is that of this line. */
export interface LineRow {
  readonly address: number;
  readonly file: string;
  readonly line: number;
  /** A statement begins here, rather than continues. */
  readonly isStatement: boolean;
}

/** Rows of one stretch of code, in order; `end` is the address behind it. */
export interface LineRange {
  readonly rows: readonly LineRow[];
  readonly end: number;
}

/** A table with more rows is broken, or takes too long to read. */
const MOST_ROWS = 20_000_000;

/** Which source lines a file's code comes from: its .debug_line, or its debug file's. Broken units are left out. */
export function lineRanges(elf: Elf): LineRange[] {
  const file = elf.section(".debug_line") ? elf : elf.debugFile;
  const section = file?.section(".debug_line");
  if (!file || !section) return [];
  const bytes = new DwarfBytes(file.bytes(section));
  const part = (name: string) => {
    const found = file.section(name);
    return found ? file.bytes(found) : new Uint8Array();
  };
  const names = { str: part(".debug_str"), lineStr: part(".debug_line_str") };
  const ranges: LineRange[] = [];
  let rows = 0;
  for (let at = 0; at < bytes.length && rows < MOST_ROWS; ) {
    const unit = readUnit(bytes, at, names);
    if (!unit) break;
    for (const range of unit.ranges) {
      rows += range.rows.length;
      ranges.push(range);
    }
    at = unit.end;
  }
  return ranges.sort((a, b) => a.rows[0]!.address - b.rows[0]!.address);
}

/** One compilation unit; undefined when its length is broken. */
function readUnit(
  bytes: DwarfBytes,
  at: number,
  names: TextSections,
): { ranges: LineRange[]; end: number } | undefined {
  const end = unlessBroken(() => unitEnd(new DwarfCursor(bytes, at)));
  if (end === undefined) return undefined;
  const ranges = unlessBroken(() => {
    const header = readHeader(new DwarfCursor(bytes, at), names);
    return runProgram(new DwarfCursor(bytes, header.program, header.end), header);
  });
  return { ranges: ranges ?? [], end };
}

function unitEnd(cursor: DwarfCursor): number {
  const first = cursor.u32();
  cursor.skip(first === 0xffff_ffff ? cursor.u64() : first);
  return cursor.at;
}

const STANDARD = {
  copy: 1,
  advancePc: 2,
  advanceLine: 3,
  setFile: 4,
  negateStatement: 6,
  constAddPc: 8,
  fixedAdvancePc: 9,
} as const;
const EXTENDED = { endSequence: 1, setAddress: 2 } as const;

/** The state machine of DWARF 6.2. */
function runProgram(cursor: DwarfCursor, header: LineHeader): LineRange[] {
  const ranges: LineRange[] = [];
  let rows: LineRow[] = [];
  let address = 0;
  let file = 1;
  let line = 1;
  let isStatement = header.isStatement;
  const row = () => rows.push({ address, file: header.files[file] ?? "", line, isStatement });
  const advance = (operations: number) => {
    address += operations * header.leastInstruction;
  };
  while (cursor.at < cursor.end) {
    const opcode = cursor.u8();
    if (opcode >= header.opcodeBase) {
      const special = opcode - header.opcodeBase;
      advance(Math.floor(special / header.lineRange));
      line += header.lineBase + (special % header.lineRange);
      row();
    } else if (opcode === 0) {
      const next = cursor.uleb() + cursor.at;
      const extended = cursor.u8();
      if (extended === EXTENDED.setAddress) address = next - cursor.at === 8 ? cursor.u64() : cursor.u32();
      else if (extended === EXTENDED.endSequence) {
        // The linker puts code that it removed at address 0.
        if (rows.length > 0 && rows[0]!.address !== 0) ranges.push({ rows, end: address });
        rows = [];
        [address, file, line, isStatement] = [0, 1, 1, header.isStatement];
      }
      cursor.skip(next - cursor.at);
    } else if (opcode === STANDARD.copy) row();
    else if (opcode === STANDARD.advancePc) advance(cursor.uleb());
    else if (opcode === STANDARD.advanceLine) line += cursor.sleb();
    else if (opcode === STANDARD.setFile) file = cursor.uleb();
    else if (opcode === STANDARD.negateStatement) isStatement = !isStatement;
    else if (opcode === STANDARD.constAddPc)
      advance(Math.floor((255 - header.opcodeBase) / header.lineRange));
    else if (opcode === STANDARD.fixedAdvancePc) address += cursor.u16();
    else for (let i = 0; i < (header.operands[opcode - 1] ?? 0); i++) cursor.uleb();
  }
  return ranges;
}
