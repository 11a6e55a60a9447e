import {
  DwarfBytes,
  DwarfCursor,
  type Elf,
  mapped,
  OMITTED,
  readPointer,
  unlessBroken,
} from "../elf/index.js";
import type { UnwindRange } from "./unwind-ranges.js";

const MOST_PADS = 10_000;
const MOST_BYTES = 1 << 20;

/** Where exceptions thrown below a function come back into it: code that nothing jumps to. */
export function landingPads(elf: Elf, range: UnwindRange): number[] {
  const { handlers } = range;
  if (handlers === undefined) return [];
  const pads = new Set<number>();
  unlessBroken(() => addPads(new DwarfBytes(mapped(elf, handlers, MOST_BYTES), handlers), range, pads));
  return [...pads];
}

/** Reads a table of call sites. It may end early: then the pads before that count. */
function addPads(table: DwarfBytes, { start }: UnwindRange, pads: Set<number>): void {
  const cursor = new DwarfCursor(table);
  const bases = { data: 0, function: start };
  const baseEncoding = cursor.u8();
  const base = baseEncoding === OMITTED ? start : readPointer(cursor, baseEncoding, bases);
  if (cursor.u8() !== OMITTED) cursor.uleb();
  const encoding = cursor.u8();
  const end = cursor.uleb() + cursor.at;
  while (cursor.at < end && pads.size < MOST_PADS) {
    readPointer(cursor, encoding, bases);
    readPointer(cursor, encoding, bases);
    const pad = readPointer(cursor, encoding, bases);
    cursor.uleb();
    if (pad !== 0) pads.add(base + pad);
  }
}
