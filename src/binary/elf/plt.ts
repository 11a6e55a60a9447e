import type { Elf } from "./elf.js";

/** A stub that jumps to what the loader put into a slot. */
export interface PltEntry {
  readonly address: number;
  readonly size: number;
  /** The place in the GOT that it jumps through. */
  readonly slot: number;
  readonly symbol?: string;
  readonly version?: string;
}

const SECTIONS = [".plt", ".plt.sec", ".plt.got", ".iplt"];
const STUB = 16;

/** Every stub is a jump through memory near it (ff 25), with a prefix or two before; which symbol, the slot's relocation says. */
export function readPlt(elf: Elf): PltEntry[] {
  if (!elf.isX64) return [];
  const slots = new Map(elf.relocations.map((relocation) => [relocation.address, relocation]));
  return SECTIONS.flatMap((name) => {
    const section = elf.section(name);
    if (section === undefined) return [];
    const bytes = elf.bytes(section);
    const fields = elf.fields(bytes);
    const size = name === ".plt.got" && section.entrySize === 8 ? 8 : STUB;
    const entries: PltEntry[] = [];
    for (let at = 0; at + 6 <= bytes.length; at += size) {
      const jump = jumpIn(bytes, at, Math.min(size, bytes.length - at));
      if (jump === undefined) continue;
      const slot = section.address + jump + 6 + fields.i32(jump + 2);
      const relocation = slots.get(slot);
      if (relocation === undefined) continue;
      const { symbol, version } = relocation;
      entries.push({
        address: section.address + at,
        size,
        slot,
        ...(symbol !== undefined && { symbol }),
        ...(version !== undefined && { version }),
      });
    }
    return entries;
  });
}

/** Where `jmp *x(%rip)` begins within a stub: at once, or after endbr64 and a bnd prefix. */
function jumpIn(bytes: Uint8Array, at: number, size: number): number | undefined {
  let from = at;
  if (
    bytes[from] === 0xf3 &&
    bytes[from + 1] === 0x0f &&
    bytes[from + 2] === 0x1e &&
    bytes[from + 3] === 0xfa
  )
    from += 4;
  if (bytes[from] === 0xf2) from += 1;
  return bytes[from] === 0xff && bytes[from + 1] === 0x25 && from + 6 <= at + size ? from : undefined;
}
