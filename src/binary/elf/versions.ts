import { DT, mapped } from "./dynamic.js";
import type { Elf } from "./elf.js";
import { nameAt } from "./fields.js";

/** The version of each entry of the loader's symbol table. */
export interface Versions {
  /** Undefined for symbols without one (local, or the base version). */
  of(index: number): string | undefined;
  /** Only for programs linked against this version. */
  hidden(index: number): boolean;
}

const MOST_VERSIONS = 0x8000;

export function readVersions(elf: Elf, count: number): Versions {
  const { values } = elf.dynamic;
  const table = elf.fields(mapped(elf, values.get(DT.VERSYM), count * 2));
  const names = new Map<number, string>();
  readDefined(elf, names);
  readNeeded(elf, names);
  const entry = (index: number) => (index * 2 + 2 <= table.length ? table.u16(index * 2) : 0);
  return {
    of: (index) => names.get(entry(index) & 0x7fff),
    hidden: (index) => (entry(index) & 0x8000) !== 0,
  };
}

function readDefined(elf: Elf, names: Map<number, string>): void {
  const { values, strings } = elf.dynamic;
  const table = elf.fields(mapped(elf, values.get(DT.VERDEF), Infinity));
  const count = Math.min(values.get(DT.VERDEFNUM) ?? 0, MOST_VERSIONS);
  for (let i = 0, at = 0; i < count && at + 20 <= table.length; i++) {
    const isBase = (table.u16(at + 2) & 1) !== 0;
    const first = at + table.u32(at + 12);
    const name = first + 8 <= table.length ? nameAt(strings, table.u32(first)) : undefined;
    if (name !== undefined && !isBase) names.set(table.u16(at + 4) & 0x7fff, name);
    const next = table.u32(at + 16);
    if (next === 0) break;
    at += next;
  }
}

function readNeeded(elf: Elf, names: Map<number, string>): void {
  const { values, strings } = elf.dynamic;
  const table = elf.fields(mapped(elf, values.get(DT.VERNEED), Infinity));
  const count = Math.min(values.get(DT.VERNEEDNUM) ?? 0, MOST_VERSIONS);
  let left = MOST_VERSIONS; // of all libraries together
  for (let i = 0, at = 0; i < count && at + 16 <= table.length; i++) {
    let aux = at + table.u32(at + 8);
    for (let k = table.u16(at + 2); k > 0 && left > 0 && aux + 16 <= table.length; k--, left--) {
      const name = nameAt(strings, table.u32(aux + 8));
      if (name !== undefined) names.set(table.u16(aux + 6) & 0x7fff, name);
      const step = table.u32(aux + 12);
      if (step === 0) break;
      aux += step;
    }
    const next = table.u32(at + 12);
    if (next === 0) break;
    at += next;
  }
}
