import { DT, mapped } from "./dynamic.js";
import { Elf } from "./elf.js";
import { nameAt } from "./fields.js";
import { SHT_SYMTAB } from "./sections.js";
import { splitVersion } from "./symbol-table.js";
import { readVersions, type Versions } from "./versions.js";
import { unpackXz } from "./xz.js";

type SymbolType = "none" | "object" | "function" | "section" | "file" | "common" | "tls" | "ifunc" | "other";
type SymbolBinding = "local" | "global" | "weak" | "unique" | "other";

export interface ElfSymbol {
  readonly name: string;
  readonly version?: string;
  readonly address: number;
  readonly size: number;
  readonly type: SymbolType;
  readonly binding: SymbolBinding;
  /** Other objects can link to it. */
  readonly exported: boolean;
  /** Here, and not in another object. */
  readonly defined: boolean;
  /** An old version, only for programs linked against it. */
  readonly hidden: boolean;
}

/** One table of the file, its entries read one by one. */
export interface SymbolSource {
  readonly count: number;
  /** The loader's own table, which has versions. */
  readonly isDynamic: boolean;
  /** False for the names of sections and source files. */
  isPlace(index: number): boolean;
  isCode(index: number): boolean;
  name(index: number): string;
  address(index: number): number;
  size(index: number): number;
  symbol(index: number): ElfSymbol;
  /** Those that are code or data at an address. */
  located(): Iterable<number>;
}

const TYPES: readonly SymbolType[] = ["none", "object", "function", "section", "file", "common", "tls"];
const BINDINGS: readonly SymbolBinding[] = ["local", "global", "weak"];
const SECTION = 3;
const FILE = 4;
const ABSOLUTE = 0xfff1;
const COMMON = 0xfff2;

const MOST_SYMBOLS = 2_000_000;

/** What a file of symbols may inflate to. */
const MOST_DEBUG_DATA = 1 << 28;

/** The tables of a file: the loader's; and the whole one, the small one in .gnu_debugdata, and that of the debug file. */
export interface SymbolSources {
  dynamic(): SymbolSource;
  others(): SymbolSource[];
}

export function symbolSources(elf: Elf): SymbolSources {
  return {
    dynamic: () => dynamicTable(elf),
    others() {
      const sources = sectionTables(elf);
      const packed = elf.section(".gnu_debugdata");
      if (packed !== undefined) sources.push(...packedTables(elf.bytes(packed)));
      if (elf.debugFile !== undefined) sources.push(...sectionTables(elf.debugFile));
      return sources;
    },
  };
}

function dynamicTable(elf: Elf): SymbolSource {
  const { values, strings } = elf.dynamic;
  const count = dynamicCount(elf);
  const bytes = mapped(elf, values.get(DT.SYMTAB), count * entrySize(elf));
  return table(elf, bytes, strings, true);
}

/** The loader's table has no length: its hash tables know, or the section does, or the strings that follow it. */
function dynamicCount(elf: Elf): number {
  const { values } = elf.dynamic;
  const hash = elf.fields(mapped(elf, values.get(DT.HASH), 8));
  if (hash.length === 8) return hash.u32(4);
  const byHash = gnuHashCount(elf, values.get(DT.GNU_HASH));
  if (byHash !== undefined) return byHash;
  const section = elf.section(".dynsym");
  if (section !== undefined) return Math.floor(section.size / entrySize(elf));
  const from = values.get(DT.SYMTAB) ?? 0;
  const to = values.get(DT.STRTAB) ?? 0;
  return Math.max(0, Math.floor((to - from) / entrySize(elf)));
}

function gnuHashCount(elf: Elf, address: number | undefined): number | undefined {
  const hash = elf.fields(mapped(elf, address, Infinity));
  if (hash.length < 16) return undefined;
  const buckets = hash.u32(0);
  const first = hash.u32(4);
  const bucketsAt = 16 + hash.u32(8) * (elf.bits / 8);
  const chainsAt = bucketsAt + buckets * 4;
  if (chainsAt > hash.length) return undefined;
  let last = 0;
  for (let i = 0; i < buckets; i++) last = Math.max(last, hash.u32(bucketsAt + i * 4));
  if (last < first) return undefined; // nothing is exported: imports are not hashed
  for (let at = chainsAt + (last - first) * 4; at + 4 <= hash.length; at += 4, last++)
    if ((hash.u32(at) & 1) !== 0) return last + 1;
  return undefined;
}

function sectionTables(elf: Elf): SymbolSource[] {
  return elf.sections
    .filter((section) => section.type === SHT_SYMTAB)
    .slice(0, 2) // no file has more than one
    .map((section) => {
      const strings = elf.sections[section.link];
      return table(
        elf,
        elf.bytes(section),
        strings === undefined ? new Uint8Array() : elf.bytes(strings),
        false,
      );
    });
}

/** A broken or strange attachment only means fewer names. */
function packedTables(bytes: Uint8Array): SymbolSource[] {
  try {
    return sectionTables(Elf.from(unpackXz(bytes, MOST_DEBUG_DATA), ".gnu_debugdata"));
  } catch {
    return [];
  }
}

const entrySize = (elf: Elf) => (elf.bits === 64 ? 24 : 16);

function table(elf: Elf, bytes: Uint8Array, strings: Uint8Array, isDynamic: boolean): SymbolSource {
  const each = entrySize(elf);
  const fields = elf.fields(bytes);
  const wide = elf.bits === 64;
  const count = Math.min(MOST_SYMBOLS, Math.floor(bytes.length / each));
  const versions: Versions | undefined = isDynamic ? readVersions(elf, count) : undefined;
  const written = (i: number) => nameAt(strings, fields.u32(i * each)) ?? "";
  const address = (i: number) => fields.word(i * each + (wide ? 8 : 4));
  const size = (i: number) => fields.word(i * each + (wide ? 16 : 8));
  const info = (i: number) => fields.u8(i * each + (wide ? 4 : 12));
  const visibility = (i: number) => fields.u8(i * each + (wide ? 5 : 13)) & 3;
  const sectionOf = (i: number) => fields.u16(i * each + (wide ? 6 : 14));
  /** An address that no program can have is no place; the size of such a thing neither. */
  const finite = (value: number) => (Number.isFinite(value) ? value : 0);

  return {
    count,
    isDynamic,
    isPlace: (i) => (info(i) & 15) !== SECTION && (info(i) & 15) !== FILE,
    isCode: (i) => (info(i) & 15) === 2 || (info(i) & 15) === 10,
    name: (i) => (isDynamic ? written(i) : splitVersion(written(i))[0]),
    address: (i) => finite(address(i)),
    size: (i) => finite(size(i)),
    symbol(i) {
      const [name, inName] = isDynamic ? [written(i)] : splitVersion(written(i));
      const version = versions?.of(i) ?? inName;
      const section = sectionOf(i);
      const type = symbolType(info(i) & 15);
      const binding = info(i) >> 4;
      const defined = section !== 0;
      return {
        name,
        ...(version !== undefined && { version }),
        address: finite(address(i)),
        size: finite(size(i)),
        type,
        binding: BINDINGS[binding] ?? (binding === 10 ? "unique" : "other"),
        exported: isDynamic && defined && binding !== 0 && (visibility(i) === 0 || visibility(i) === 3),
        defined,
        hidden: defined && (versions?.hidden(i) ?? false),
      };
    },
    *located() {
      for (let i = 0; i < count; i++) {
        const type = info(i) & 15;
        const section = sectionOf(i);
        if (section === 0 || section === ABSOLUTE || section === COMMON) continue;
        if (type > 2 && type !== 10) continue; // a section, a file, an offset into thread storage
        if (address(i) > 0 && Number.isFinite(address(i)) && fields.u32(i * each) !== 0) yield i;
      }
    },
  };
}

function symbolType(code: number): SymbolType {
  return TYPES[code] ?? (code === 10 ? "ifunc" : "other");
}
