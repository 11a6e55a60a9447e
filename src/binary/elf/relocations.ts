import { DT, mapped } from "./dynamic.js";
import type { Elf } from "./elf.js";
import { MOST_TEXT, nameAt } from "./fields.js";
import { readVersions } from "./versions.js";

/** One place that the loader fills in. */
export interface Relocation {
  /** Where the value goes: an address of this file. */
  readonly address: number;
  /**
   * What goes there: the address of a function called through the PLT (`jump`), of a symbol reached through the GOT
   * (`global`) or kept in data (`absolute`), this object's own address plus `addend` (`relative`), what the function at
   * `addend` returns (`ifunc`), a copy of the symbol's data (`copy`), or something else.
   */
  readonly kind: "jump" | "global" | "absolute" | "relative" | "ifunc" | "copy" | "other";
  readonly symbol?: string;
  readonly version?: string;
  readonly addend: number;
}

const MOST = 2_000_000;

/** As x86-64 numbers them; other machines' are all "other". */
const KINDS = new Map<number, Relocation["kind"]>([
  [1, "absolute"],
  [5, "copy"],
  [6, "global"],
  [7, "jump"],
  [8, "relative"],
  [37, "ifunc"],
]);

/** The loader's tables, those of compressed relative places (RELR) included. */
export function readRelocations(elf: Elf): Relocation[] {
  const { values } = elf.dynamic;
  const relocations: Relocation[] = [];
  const names = namesOf(elf);
  const read = (bytes: Uint8Array, withAddend: boolean) => {
    const fields = elf.fields(bytes);
    const wide = elf.bits === 64;
    const each = (wide ? 16 : 8) + (withAddend ? (wide ? 8 : 4) : 0);
    for (let at = 0; at + each <= bytes.length && relocations.length < MOST; at += each) {
      const type = wide ? fields.u32(at + (elf.littleEndian ? 8 : 12)) : fields.u32(at + 4) & 0xff;
      const index = wide ? fields.u32(at + (elf.littleEndian ? 12 : 8)) : fields.u32(at + 4) >>> 8;
      const addend = !withAddend ? 0 : wide ? fields.i64(at + 16) : fields.i32(at + 8);
      const address = fields.word(at);
      if (!Number.isFinite(address)) continue;
      const kind = (elf.isX64 ? KINDS.get(type) : undefined) ?? "other";
      relocations.push({ address, kind, addend, ...(index !== 0 && names(index)) });
    }
  };
  read(mapped(elf, values.get(DT.RELA), values.get(DT.RELASZ)), true);
  read(mapped(elf, values.get(DT.REL), values.get(DT.RELSZ)), false);
  read(mapped(elf, values.get(DT.JMPREL), values.get(DT.PLTRELSZ)), values.get(DT.PLTREL) !== DT.REL);
  if (elf.isX64) readRelative(elf, relocations);
  return relocations;
}

function namesOf(elf: Elf) {
  const { values, strings } = elf.dynamic;
  const each = elf.bits === 64 ? 24 : 16;
  const table = elf.fields(mapped(elf, values.get(DT.SYMTAB), Infinity));
  const count = Math.floor(table.length / each);
  const versions = readVersions(elf, count);
  const known = new Map<number, { symbol?: string; version?: string }>();
  let left = MOST_TEXT;
  return (index: number): { symbol?: string; version?: string } => {
    const found = known.get(index);
    if (found !== undefined) return found;
    if (index >= count || left < 0) return {};
    const symbol = nameAt(strings, table.u32(index * each));
    const version = versions.of(index);
    const names = { ...(symbol && { symbol }), ...(version !== undefined && { version }) };
    left -= symbol?.length ?? 0;
    known.set(index, names);
    return names;
  };
}

/** RELR: an even entry is a place; an odd one a map of the 63 places after it. Their addends are in the places. */
function readRelative(elf: Elf, relocations: Relocation[]): void {
  const { values } = elf.dynamic;
  const table = elf.fields(mapped(elf, values.get(DT.RELR), values.get(DT.RELRSZ)));
  const add = (address: number) => {
    const held = mapped(elf, address, 8);
    const addend = held.length === 8 ? elf.fields(held).u64(0) : 0;
    relocations.push({ address, kind: "relative", addend: Number.isFinite(addend) ? addend : 0 });
  };
  let next = 0;
  for (let at = 0; at + 8 <= table.length && relocations.length < MOST; at += 8) {
    const low = table.u32(at);
    const high = table.u32(at + 4);
    if ((low & 1) === 0) {
      const place = table.u64(at);
      if (!Number.isFinite(place)) return;
      add(place);
      next = place + 8;
      continue;
    }
    for (let bit = 1; bit < 64; bit++)
      if (((bit < 32 ? low >>> bit : high >>> (bit - 32)) & 1) !== 0) add(next + (bit - 1) * 8);
    next += 63 * 8;
  }
}
