import { type Elf, mapped } from "../elf/index.js";
import { Cursor, type UnwindRange } from "./unwind-ranges.js";

const MOST_PADS = 10_000;
const OMITTED = 0xff;

/** Where exceptions thrown below a function come back into it: code that nothing jumps to. */
export function landingPads(elf: Elf, range: UnwindRange): number[] {
  if (range.handlers === undefined) return [];
  const bytes = mapped(elf, range.handlers, 1 << 20);
  const cursor = new Cursor(elf.fields(bytes), 0, bytes.length, range.handlers);
  const startEncoding = cursor.byte();
  const start = startEncoding === OMITTED ? range.start : cursor.number(startEncoding);
  if (cursor.byte() !== OMITTED) cursor.number(0x01);
  const encoding = cursor.byte();
  const length = cursor.number(0x01);
  const end = cursor.at + length;
  const pads = new Set<number>();
  while (!cursor.failed && cursor.at < end && pads.size < MOST_PADS) {
    cursor.number(encoding);
    cursor.number(encoding);
    const pad = cursor.number(encoding);
    cursor.number(0x01);
    if (pad !== 0 && !cursor.failed) pads.add(start + pad);
  }
  return [...pads];
}
