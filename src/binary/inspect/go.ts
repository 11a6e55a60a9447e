import type { Elf } from "../elf/index.js";
import { MOST_TEXT, nameAt } from "../elf/index.js";

interface GoFunction {
  readonly address: number;
  readonly size: number;
  readonly name?: string;
}

/** Go 1.18 and 1.20; before, the table was another. */
const MAGIC = [0xfffffff0, 0xfffffff1];
const MOST = 2_000_000;

/** Go's own table of functions, which no stripping takes away: the runtime walks its stacks by it. */
export function goFunctions(elf: Elf): GoFunction[] {
  const section = elf.section(".gopclntab") ?? elf.section(".data.rel.ro.gopclntab");
  if (section === undefined || elf.bits !== 64) return [];
  const bytes = elf.bytes(section);
  const fields = elf.fields(bytes);
  if (bytes.length < 72 || !MAGIC.includes(fields.u32(0)) || fields.u8(7) !== 8) return [];
  const count = fields.u64(8);
  const text = fields.u64(24) || (elf.section(".text")?.address ?? 0);
  const names = fields.u64(32);
  const table = fields.u64(64);
  if (!(count <= MOST && table + (count + 1) * 8 <= bytes.length)) return [];
  let left = MOST_TEXT;
  return Array.from({ length: count }, (_, i) => {
    const at = table + i * 8;
    const address = text + fields.u32(at);
    const size = Math.max(0, text + fields.u32(at + 8) - address);
    const record = table + fields.u32(at + 4);
    const name =
      left > 0 && record + 8 <= bytes.length ? nameAt(bytes, names + fields.u32(record + 4)) : undefined;
    left -= name?.length ?? 0;
    return { address, size, ...(name && { name }) };
  });
}
