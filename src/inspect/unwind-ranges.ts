import { type Elf, type Fields, mapped } from "../elf/index.js";

/** A stretch of code that .eh_frame describes: one function, or a part of it that was moved away. */
export interface UnwindRange {
  readonly start: number;
  readonly size: number;
  /** Where the table of exception handlers is. */
  readonly handlers?: number;
}

const MOST_ENTRIES = 2_000_000;

/** Compilers write .eh_frame for all their code, also in stripped files: it tells where functions begin and end. */
export function unwindRanges(elf: Elf): UnwindRange[] {
  const frame = frameOf(elf);
  if (frame === undefined) return [];
  const { address: base, bytes } = frame;
  const fields = elf.fields(bytes);
  const kinds = new Map<number, Kind | undefined>();
  const ranges: UnwindRange[] = [];
  let at = 0;
  for (let count = 0; count < MOST_ENTRIES && at + 8 <= bytes.length; count++) {
    const length = fields.u32(at);
    if (length === 0 || length >= 0xfffffff0) break;
    const end = at + 4 + length;
    const id = fields.u32(at + 4);
    if (end > bytes.length || length < 4) break;
    if (id !== 0) {
      const home = at + 4 - id;
      if (!kinds.has(home)) kinds.set(home, home >= 0 ? kindAt(fields, home) : undefined);
      const kind = kinds.get(home);
      const range = kind && readRange(new Cursor(fields, at + 8, end, base), kind);
      if (range !== undefined) ranges.push(range);
    }
    at = end;
  }
  return ranges.sort((a, b) => a.start - b.start);
}

function frameOf(elf: Elf): { address: number; bytes: Uint8Array } | undefined {
  const section = elf.section(".eh_frame");
  if (section !== undefined) return { address: section.address, bytes: elf.bytes(section) };
  const header = elf.segments.find(({ type }) => type === "eh-frame");
  if (header === undefined) return undefined;
  const fields = elf.fields(mapped(elf, header.address, 12));
  if (fields.length < 12 || fields.u8(1) !== 0x1b) return undefined;
  const address = header.address + 4 + fields.i32(4);
  return { address, bytes: mapped(elf, address, Infinity) };
}

/** How the ranges of one kind of entry are written. */
interface Kind {
  readonly pointers: number;
  readonly handlers: number | undefined;
  readonly hasLength: boolean;
  /** Of the code that a signal handler returns to: it begins a byte early, for those who look up a return address less one. */
  readonly isSignal: boolean;
}

const OMITTED = 0xff;

function kindAt(fields: Fields, at: number): Kind | undefined {
  if (at + 9 > fields.length || fields.u32(at + 4) !== 0) return undefined;
  const end = Math.min(fields.length, at + 4 + fields.u32(at));
  const cursor = new Cursor(fields, at + 9, end, 0);
  const letters = cursor.text();
  cursor.number(0x01);
  cursor.number(0x09);
  if (fields.u8(at + 8) === 1) cursor.byte();
  else cursor.number(0x01);
  if (!letters.startsWith("z"))
    return { pointers: 0, handlers: undefined, hasLength: false, isSignal: false };
  cursor.number(0x01);
  let pointers = 0;
  let handlers: number | undefined;
  for (const letter of letters.slice(1)) {
    if (letter === "R") pointers = cursor.byte();
    else if (letter === "L") handlers = cursor.byte();
    else if (letter === "P") cursor.number(cursor.byte() & 0x0f);
    else if (letter !== "S" && letter !== "B") return undefined;
  }
  return cursor.failed ? undefined : { pointers, handlers, hasLength: true, isSignal: letters.includes("S") };
}

function readRange(cursor: Cursor, kind: Kind): UnwindRange | undefined {
  const start = cursor.number(kind.pointers);
  const size = cursor.number(kind.pointers & 0x0f);
  let handlers: number | undefined;
  if (kind.hasLength) {
    cursor.number(0x01);
    if (kind.handlers !== undefined && kind.handlers !== OMITTED) handlers = cursor.pointer(kind.handlers);
  }
  if (cursor.failed || !(size > 0 && start > 0 && start + size < 2 ** 53)) return undefined;
  if (kind.isSignal) return { start: start + 1, size: size - 1 };
  return { start, size, ...(handlers !== undefined && { handlers }) };
}

/** Reads the numbers of DWARF's pointer encodings, never beyond its end. */
export class Cursor {
  failed = false;

  constructor(
    readonly fields: Fields,
    public at: number,
    readonly end: number,
    /** The address of the first byte. */
    readonly base: number,
  ) {}

  byte(): number {
    if (this.at >= this.end) this.failed = true;
    return this.failed ? 0 : this.fields.u8(this.at++);
  }

  text(): string {
    let text = "";
    for (let byte = this.byte(); byte !== 0 && text.length < 32; byte = this.byte())
      text += String.fromCharCode(byte);
    return text;
  }

  /** A pointer that may be absent: zero before what it is relative to is added. */
  pointer(encoding: number): number | undefined {
    const from = this.at;
    const value = this.number(encoding & 0x0f);
    return value === 0 ? undefined : value + ((encoding & 0x70) === 0x10 ? this.base + from : 0);
  }

  number(encoding: number): number {
    const from = this.at;
    const value = this.#plain(encoding & 0x0f);
    return (encoding & 0x70) === 0x10 ? value + this.base + from : value;
  }

  #plain(format: number): number {
    if (format === 0x01 || format === 0x09) return this.#leb(format === 0x09);
    const size = SIZES[format];
    if (size === undefined || this.at + size > this.end) this.failed = true;
    if (this.failed) return 0;
    const from = this.at;
    this.at += size!;
    if (size === 2) return format === 0x0a ? (this.fields.u16(from) << 16) >> 16 : this.fields.u16(from);
    if (size === 4) return format === 0x0b ? this.fields.i32(from) : this.fields.u32(from);
    return format === 0x0c ? this.fields.i64(from) : this.fields.u64(from);
  }

  #leb(signed: boolean): number {
    let value = 0;
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if ((byte & 0x80) !== 0) continue;
      return signed && (byte & 0x40) !== 0 ? value - 2 ** (shift + 7) : value;
    }
    this.failed = true;
    return 0;
  }
}

/** By format: absolute, udata2, udata4, udata8, and their signed kin. */
const SIZES: Readonly<Record<number, number>> = { 0: 8, 2: 2, 3: 4, 4: 8, 10: 2, 11: 4, 12: 8 };
