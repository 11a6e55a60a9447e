import { wildcards } from "../../nouns/glob.js";
import { MOST_TEXT } from "./fields.js";
import type { ElfSymbol, SymbolSource, SymbolSources } from "./symbols.js";

/** One table's symbols by name, made when the first name is looked for. */
class Loaded {
  #byName: Map<string, number[]> | undefined;

  constructor(readonly source: SymbolSource) {}

  named(name: string): readonly number[] {
    return this.byName().get(name) ?? [];
  }

  byName(): ReadonlyMap<string, readonly number[]> {
    if (this.#byName !== undefined) return this.#byName;
    const byName = new Map<string, number[]>();
    let left = MOST_TEXT;
    for (let i = 0; i < this.source.count && left > 0; i++) {
      const name = this.source.isPlace(i) ? this.source.name(i) : "";
      if (name === "") continue;
      left -= name.length;
      const known = byName.get(name);
      if (known === undefined) byName.set(name, [i]);
      else known.push(i);
    }
    this.#byName = byName;
    return byName;
  }
}

/** All symbols of a file, merged from its tables. Tables are read when a caller first needs them. */
export class SymbolTable {
  readonly #sources: SymbolSources;
  #first: Loaded | undefined;
  #tables: readonly Loaded[] | undefined;
  #places: Places | undefined;

  constructor(sources: SymbolSources) {
    this.#sources = sources;
  }

  /** All symbols of a name, the default version first; or of one version when it is named: "memcpy@GLIBC_2.14". */
  byName(name: string): ElfSymbol[] {
    const [bare, version] = splitVersion(name);
    const found = this.#merged((table) => table.named(bare));
    const asked = version === undefined ? found : found.filter((symbol) => symbol.version === version);
    return asked.sort((a, b) => rank(b) - rank(a));
  }

  /** As byName, but only what others can link to: the loader's table is small, and quickly read. */
  exported(name: string): ElfSymbol[] {
    const [bare, version] = splitVersion(name);
    const table = this.#dynamic();
    return table
      .named(bare)
      .map((index) => table.source.symbol(index))
      .filter((symbol) => symbol.exported && (version === undefined || symbol.version === version))
      .sort((a, b) => rank(b) - rank(a));
  }

  /** All symbols whose name a pattern of `*` and `?` describes. */
  matching(glob: string): ElfSymbol[] {
    if (!/[*?]/.test(glob)) return this.byName(glob);
    const names = new Set<string>();
    for (const table of this.#all()) for (const name of table.byName().keys()) names.add(name);
    return [...names].filter(wildcards(glob)).flatMap((name) => this.byName(name));
  }

  /** The symbol that an address lies in; undefined outside of all. One without a size is only at its own address. */
  at(address: number): ElfSymbol | undefined {
    this.#places ??= placesOf(this.#all().map((table) => table.source));
    return this.#places.at(address);
  }

  all(): ElfSymbol[] {
    return this.#merged((table) => [...table.byName().values()].flat());
  }

  /** Names as they come, some several times. */
  *names(): Iterable<string> {
    for (const { source } of this.#all())
      for (let i = 0; i < source.count; i++) if (source.isPlace(i)) yield source.name(i);
  }

  /** Where code begins, and how long it is; one place may come several times. */
  *functions(): Iterable<{ address: number; size: number }> {
    for (const { source } of this.#all())
      for (const index of source.located())
        if (source.isCode(index)) yield { address: source.address(index), size: source.size(index) };
  }

  /** The same symbol is often in several tables: the loader's comes first, and knows the version. */
  #merged(indices: (table: Loaded) => readonly number[]): ElfSymbol[] {
    const found: ElfSymbol[] = [];
    const known = new Set<string>();
    for (const table of this.#all())
      for (const index of indices(table)) {
        const symbol = table.source.symbol(index);
        const place = `${symbol.name} ${symbol.address} ${symbol.defined}`;
        const full = `${place} ${symbol.version ?? ""}`;
        if (known.has(full) || (symbol.version === undefined && known.has(place))) continue;
        known.add(full).add(place);
        found.push(symbol);
      }
    return found;
  }

  /** What the loader knows: imports and exports. */
  dynamic(): ElfSymbol[] {
    const table = this.#dynamic();
    return [...table.byName().values()].flat().map((index) => table.source.symbol(index));
  }

  #dynamic(): Loaded {
    this.#first ??= new Loaded(this.#sources.dynamic());
    return this.#first;
  }

  #all(): readonly Loaded[] {
    this.#tables ??= [this.#dynamic(), ...this.#sources.others().map((source) => new Loaded(source))];
    return this.#tables;
  }
}

function rank(symbol: ElfSymbol): number {
  return (symbol.defined ? 4 : 0) + (symbol.exported ? 2 : 0) + (symbol.hidden ? 0 : 1);
}

/** "memcpy@GLIBC_2.14" and "memcpy@@GLIBC_2.14", as linkers write them. */
export function splitVersion(name: string): [name: string, version?: string] {
  const at = name.indexOf("@");
  return at <= 0 ? [name] : [name.slice(0, at), name.slice(at + 1).replace(/^@/, "")];
}

/** Symbols within symbols are few; a file in which they are not gets no names, instead of our time. */
const MOST_STEPS = 10_000;

interface Places {
  at(address: number): ElfSymbol | undefined;
}

/** Where symbols begin, in order; and up to each, how far any of them reaches, so that a search knows when to stop. */
function placesOf(sources: readonly SymbolSource[]): Places {
  const located = sources.flatMap((source) => Array.from(source.located(), (index) => ({ source, index })));
  const starts = Float64Array.from(located, ({ source, index }) => source.address(index));
  const order = Uint32Array.from(located.keys()).sort((a, b) => starts[a]! - starts[b]!);
  const sorted = Float64Array.from(order, (i) => starts[i]!);
  const ends = new Float64Array(order.length);
  const reach = new Float64Array(order.length);
  for (let i = 0, far = 0; i < order.length; i++) {
    const { source, index } = located[order[i]!]!;
    ends[i] = sorted[i]! + Math.max(1, source.size(index));
    far = Math.max(far, ends[i]!);
    reach[i] = far;
  }
  const symbolAt = (i: number) => located[order[i]!]!.source.symbol(located[order[i]!]!.index);
  return {
    at(address) {
      let i = lastAtMost(sorted, address);
      for (let steps = 0; i >= 0 && reach[i]! > address && steps < MOST_STEPS; steps++) {
        if (ends[i]! > address) {
          let best = symbolAt(i);
          for (let k = i - 1; k >= 0 && sorted[k] === sorted[i]; k--)
            if (ends[k]! > address) best = better(best, symbolAt(k));
          return best;
        }
        i -= 1;
      }
      return undefined;
    },
  };
}

function lastAtMost(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Of several names of one place: code before data, known to others before local, plain before underscored, short first. */
function better(a: ElfSymbol, b: ElfSymbol): ElfSymbol {
  return compare(a, b) <= 0 ? a : b;
}

function compare(a: ElfSymbol, b: ElfSymbol): number {
  const isCode = (s: ElfSymbol) => (s.type === "function" || s.type === "ifunc" ? 0 : 1);
  const isLocal = (s: ElfSymbol) => (s.binding === "local" ? 1 : 0);
  const underscores = (s: ElfSymbol) => /^_*/.exec(s.name)![0].length;
  return (
    isCode(a) - isCode(b) ||
    isLocal(a) - isLocal(b) ||
    underscores(a) - underscores(b) ||
    a.name.length - b.name.length ||
    (a.name < b.name ? -1 : a.name > b.name ? 1 : (a.version ?? "") < (b.version ?? "") ? -1 : 1)
  );
}
