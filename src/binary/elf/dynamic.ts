import type { Elf } from "./elf.js";
import { nameAt } from "./fields.js";

/** The dynamic segment: what the loader needs. It is there without section headers too. */
export interface Dynamic {
  readonly present: boolean;
  readonly soname?: string;
  readonly needed: readonly string[];
  readonly rpath?: string;
  readonly runpath?: string;
  readonly flags: number;
  readonly flags1: number;
  readonly isPie: boolean;
  /** Values by tag; of tags that may come twice, the first. */
  readonly values: ReadonlyMap<number, number>;
  readonly strings: Uint8Array;
}

export const DT = {
  NEEDED: 1,
  PLTRELSZ: 2,
  HASH: 4,
  STRTAB: 5,
  SYMTAB: 6,
  RELA: 7,
  RELASZ: 8,
  STRSZ: 10,
  INIT: 12,
  FINI: 13,
  SONAME: 14,
  RPATH: 15,
  REL: 17,
  RELSZ: 18,
  PLTREL: 20,
  TEXTREL: 22,
  JMPREL: 23,
  BIND_NOW: 24,
  INIT_ARRAY: 25,
  FINI_ARRAY: 26,
  INIT_ARRAYSZ: 27,
  FINI_ARRAYSZ: 28,
  RUNPATH: 29,
  FLAGS: 30,
  RELRSZ: 35,
  RELR: 36,
  GNU_HASH: 0x6ffffef5,
  VERSYM: 0x6ffffff0,
  FLAGS_1: 0x6ffffffb,
  VERDEF: 0x6ffffffc,
  VERDEFNUM: 0x6ffffffd,
  VERNEED: 0x6ffffffe,
  VERNEEDNUM: 0x6fffffff,
} as const;

const MOST_ENTRIES = 4096;
const DF_1_PIE = 0x08000000;

export function readDynamic(elf: Elf): Dynamic {
  const segment = elf.segments.find((part) => part.type === "dynamic");
  const each = elf.bits === 64 ? 16 : 8;
  const length = segment === undefined ? 0 : Math.min(segment.fileSize, MOST_ENTRIES * each);
  const table = elf.fields(elf.raw(segment?.offset ?? 0, length));
  const values = new Map<number, number>();
  const names: number[] = [];
  for (let at = 0; at + each <= table.length; at += each) {
    const tag = table.word(at);
    const value = table.word(at + each / 2);
    if (tag === 0) break;
    if (tag === DT.NEEDED) names.push(value);
    else if (!values.has(tag)) values.set(tag, value);
  }
  const strings = mapped(elf, values.get(DT.STRTAB), values.get(DT.STRSZ));
  const text = (tag: number) => {
    const at = values.get(tag);
    return at === undefined ? undefined : nameAt(strings, at);
  };
  const soname = text(DT.SONAME);
  const rpath = text(DT.RPATH);
  const runpath = text(DT.RUNPATH);
  const flags1 = values.get(DT.FLAGS_1) ?? 0;
  return {
    present: segment !== undefined,
    ...(soname !== undefined && { soname }),
    ...(rpath !== undefined && { rpath }),
    ...(runpath !== undefined && { runpath }),
    needed: names.map((at) => nameAt(strings, at)).filter((name) => name !== undefined),
    flags: values.get(DT.FLAGS) ?? 0,
    flags1,
    isPie: (flags1 & DF_1_PIE) !== 0,
    values,
    strings,
  };
}

/** What lies in the file for an address: no more than is there, nothing when the address is nowhere. */
export function mapped(elf: Elf, address: number | undefined, length: number | undefined): Uint8Array {
  const offset = address === undefined ? undefined : elf.offsetOf(address);
  if (address === undefined || offset === undefined || length === undefined) return new Uint8Array();
  const segment = elf.segmentAt(address)!;
  return elf.raw(offset, Math.min(length, segment.fileSize - (address - segment.address)));
}
