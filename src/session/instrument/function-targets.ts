import { findBytes, onBoundaries } from "../../binary/code/boundaries.js";
import type { Elf, ElfSymbol } from "../../binary/elf/index.js";
import { PF_X } from "../../binary/elf/sections.js";
import type { FunctionPattern } from "../../policy/function-pattern.js";

/** A function of a file. */
export interface FunctionTarget {
  /** The address in the file. */
  readonly address: number;
  readonly symbol: string | undefined;
  /** All of its names, the most common one first. */
  readonly names: readonly string[];
  /** Other files can link to it. */
  readonly exported: boolean;
  /** An IFUNC resolver: its code returns the address of the function. */
  readonly chooses: boolean;
}

/** Searched once for each file. */
const known = new WeakMap<Elf, Map<string, readonly FunctionTarget[]>>();

/** A pattern that matches more functions is refused as a mistake. */
const MOST_TARGETS = 50_000;

/** The functions of a file that match a pattern. */
export function targetsOf(elf: Elf, pattern: FunctionPattern): readonly FunctionTarget[] {
  let ofFile = known.get(elf);
  if (!ofFile) {
    ofFile = new Map();
    known.set(elf, ofFile);
  }
  const key = pattern.text.slice(pattern.text.indexOf("!"));
  let targets = ofFile.get(key);
  if (!targets) {
    targets = find(elf, pattern).slice(0, MOST_TARGETS);
    ofFile.set(key, targets);
  }
  return targets;
}

function find(elf: Elf, { what }: FunctionPattern): FunctionTarget[] {
  switch (what.by) {
    case "symbol":
      return bySymbol(elf, what.glob, what.version);
    case "address":
      return isCode(elf, what.address) ? [at(elf, what.address)] : [];
    case "offset": {
      const first = Math.min(
        ...elf.segments.filter(({ type }) => type === "load").map((part) => part.address),
      );
      const address = first - (first % 4096) + what.offset;
      return isCode(elf, address) ? [at(elf, address)] : [];
    }
    default:
      return byBytes(elf, what.bytes).map((address) => at(elf, address));
  }
}

function at(elf: Elf, address: number): FunctionTarget {
  const symbol = elf.symbols.at(address);
  const own = symbol?.address === address ? symbol : undefined;
  const names = own ? [own.name] : [];
  return { address, symbol: own?.name, names, exported: own?.exported ?? false, chooses: false };
}

/** Exported symbols first: searching all symbols takes longer. */
function bySymbol(elf: Elf, glob: string, version: string | undefined): FunctionTarget[] {
  const wild = /[*?]/.test(glob);
  const full = version === undefined ? glob : `${glob}@${version}`;
  let symbols = wild ? elf.symbols.matching(glob) : elf.symbols.exported(full).filter(isFunction);
  if (!wild && symbols.length === 0) symbols = elf.symbols.byName(full);
  const byAddress = new Map<number, ElfSymbol[]>();
  for (const symbol of symbols) {
    if (!isFunction(symbol) || !isCode(elf, symbol.address)) continue;
    if (wild && NOT_CALLED.test(symbol.name)) continue;
    if (version !== undefined && symbol.version !== version) continue;
    const others = byAddress.get(symbol.address);
    if (others) others.push(symbol);
    else byAddress.set(symbol.address, [symbol]);
  }
  return [...byAddress].map(([address, all]) => {
    const names = [...new Set(all.map(({ name }) => name))].sort(byPlainness);
    const exported = all.some((symbol) => symbol.exported);
    return { address, symbol: names[0]!, names, exported, chooses: all[0]!.type === "ifunc" };
  });
}

/** Thread entry points and cold parts of functions, which are jumped to: they return nowhere. */
const NOT_CALLED = /^_start$|\.cold(\.\d+)?$/;

function isFunction({ defined, type }: ElfSymbol): boolean {
  return defined && (type === "function" || type === "ifunc");
}

/** Of several names for one address, the most common one. */
function byPlainness(a: string, b: string): number {
  const underscores = (name: string) => /^_*/.exec(name)![0].length;
  return underscores(a) - underscores(b) || a.length - b.length;
}

function isCode(elf: Elf, address: number): boolean {
  return ((elf.segmentAt(address)?.flags ?? 0) & PF_X) !== 0;
}

/**
 * Matches at instruction starts only. Sections are decoded from their start, or whole segments in files
 * without sections.
 */
function byBytes(elf: Elf, bytes: readonly (number | undefined)[]): number[] {
  const found: number[] = [];
  const isText = ({ flags, address }: { flags: number; address: number }) =>
    (flags & SECTION_EXECUTE) !== 0 && address !== 0;
  const sections = elf.sections.filter(isText);
  const segments = elf.segments.filter(({ type, flags }) => type === "load" && (flags & PF_X) !== 0);
  for (const part of sections.length > 0 ? sections : segments) {
    const code = elf.bytes(part);
    for (const offset of onBoundaries(code, findBytes(code, bytes))) found.push(part.address + offset);
  }
  return found;
}

const SECTION_EXECUTE = 4;
