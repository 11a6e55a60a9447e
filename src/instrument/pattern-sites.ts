import { checkPattern, findPattern, isQuick, type Match } from "../code/pattern.js";
import { type Elf, EXECUTE } from "../elf/index.js";
import { unwindRanges } from "../inspect/unwind-ranges.js";
import { matchesModule, moduleName } from "../policy/function-pattern.js";
import { FAULTING } from "../policy/instruction-pattern.js";
import type { InstructionWish } from "../policy/stack.js";
import type { Module } from "../process/modules.js";
import type { Hit, SiteOwner, Sites } from "./sites.js";
import type { Space } from "./space.js";

/** Whoever hears that a thread is about to execute an instruction that somebody wants to see. */
export interface PatternHits {
  reached(site: PatternSite, hit: Hit): number;
}

/** A place in a file's code where an instruction lies that somebody wants to see. */
export class PatternSite implements SiteOwner {
  /** The pattern, as it was written. */
  readonly name: string;
  readonly module: string;
  readonly match: Match;
  readonly wishes: readonly InstructionWish[];
  readonly #hits: PatternHits;

  constructor(hits: PatternHits, module: string, match: Match, wishes: readonly InstructionWish[]) {
    this.#hits = hits;
    this.module = module;
    this.match = match;
    this.wishes = wishes;
    this.name = wishes[0]!.interest.name;
  }

  hit(hit: Hit): number {
    return this.#hits.reached(this, hit);
  }
}

export interface PatternSitesOptions {
  readonly sites: Sites;
  readonly hits: PatternHits;
  readonly problem: (text: string) => void;
}

interface Prepared {
  /** As the file numbers it. */
  readonly address: number;
  readonly owner: PatternSite;
}

const SECTION_EXECUTE = 4;
/** To decode all of a file's code takes a second for some ten million bytes. */
const MOST_CODE = 16 * 1024 * 1024;
const MOST_SITES = 10_000;

/** Which instructions are looked at, and the sites that see to it. */
export class PatternSites {
  readonly #o: PatternSitesOptions;
  #wishes: readonly InstructionWish[] = [];
  #prepared = new Map<Elf, { main?: Prepared[][]; other?: Prepared[][] }>();
  #owners = new WeakSet<SiteOwner>();
  readonly #found = new Map<string, number>();

  constructor(options: PatternSitesOptions) {
    this.#o = options;
  }

  /** From now on these are wanted. Throws when one of them is no instruction. */
  want(wishes: readonly InstructionWish[]): void {
    this.#wishes = wishes.filter(({ interest }) => !FAULTING.has(interest.name));
    for (const { interest } of this.#wishes) checkPattern(interest.code!);
    this.#prepared = new Map();
    this.#owners = new WeakSet();
  }

  /** At how many places each pattern was found, in all files that were looked through. */
  get found(): Readonly<Record<string, number>> {
    const names = this.#wishes.map(({ interest }) => interest.name);
    return Object.fromEntries(names.map((name) => [name, this.#found.get(name) ?? 0]));
  }

  /** Code of a module was mapped at [from, to). Returns whether all could be placed. */
  place(tid: number, space: Space, module: Module, from: number, to: number): boolean {
    if (this.#wishes.length === 0 || module.isVdso) return true;
    const elf = module.elf();
    const { bias } = module;
    if (!elf || bias === undefined) return true;
    // One pattern after the other: an instruction may fit several.
    return this.#prepare(elf, module)
      .map((prepared) => this.#placeOne(tid, space, module, bias, prepared, from, to))
      .every((placed) => placed);
  }

  #placeOne(
    tid: number,
    space: Space,
    { path }: Module,
    bias: number,
    prepared: readonly Prepared[],
    from: number,
    to: number,
  ): boolean {
    const places = prepared
      .map(({ address, owner }): [number, PatternSite] => [bias + address, owner])
      .filter(([address]) => address >= from && address < to);
    const failed = places.length === 0 ? [] : this.#o.sites.placeEach(tid, space, places);
    if (failed.length > 0)
      this.#o.problem(
        `${failed.length} of ${places.length} times "${places[0]![1].name}" in ${path} is not seen: it cannot be executed elsewhere`,
      );
    return failed.length === 0;
  }

  #prepare(elf: Elf, module: Module): readonly Prepared[][] {
    const ofFile = this.#prepared.get(elf) ?? {};
    this.#prepared.set(elf, ofFile);
    const part = module.isMain ? "main" : "other";
    ofFile[part] ??= this.#find(elf, module);
    return ofFile[part];
  }

  #find(elf: Elf, module: Module): Prepared[][] {
    const groups = new Map<string, InstructionWish[]>();
    for (const wish of this.#wishes) {
      const { name, module: meant } = wish.interest;
      if (meant !== undefined && !matchesModule({ module: meant }, module.path, module.isMain)) continue;
      groups.set(name, [...(groups.get(name) ?? []), wish]);
    }
    return [...groups.values()].map((wishes) => this.#findOne(elf, module, wishes));
  }

  #findOne(elf: Elf, module: Module, wishes: readonly InstructionWish[]): Prepared[] {
    const { name, code: pattern } = wishes[0]!.interest;
    const found: Prepared[] = [];
    for (const { address, code, starts } of codeOf(elf)) {
      if (!isQuick(pattern!) && code.length > MOST_CODE) {
        this.#o.problem(
          `${module.path} has too much code to look for "${name}": add an instruction that is rarer`,
        );
        continue;
      }
      for (const match of findPattern(code, pattern!, starts)) {
        const owner = new PatternSite(this.#o.hits, moduleName(module.path), match, wishes);
        found.push({ address: address + match.offset, owner });
      }
    }
    if (found.length > MOST_SITES)
      this.#o.problem(
        `"${name}" is found ${found.length} times in ${module.path}: only ${MOST_SITES} are seen`,
      );
    const kept = found.slice(0, MOST_SITES);
    for (const { owner } of kept) this.#owners.add(owner);
    if (kept.length > 0) this.#found.set(name, (this.#found.get(name) ?? 0) + kept.length);
    return kept;
  }

  /** Takes away the sites of instructions that are no longer wanted. */
  removeOld(tid: number, space: Space): void {
    const gone = new Map<PatternSite, number>();
    for (const { address, owners } of space.sites)
      for (const { owner } of owners)
        if (owner instanceof PatternSite && !this.#owners.has(owner)) gone.set(owner, address);
    for (const [owner, address] of gone) this.#o.sites.remove(tid, space, [address], owner);
  }
}

interface Code {
  readonly address: number;
  readonly code: Uint8Array;
  /** Where functions begin in it. */
  readonly starts: () => readonly number[];
}

/** Sections with code, or whole segments where there are none. */
function codeOf(elf: Elf): Code[] {
  const sections = elf.sections.filter(
    ({ flags, address }) => (flags & SECTION_EXECUTE) !== 0 && address !== 0,
  );
  const segments = elf.segments.filter(({ type, flags }) => type === "load" && (flags & EXECUTE) !== 0);
  let ranges: number[] | undefined;
  return (sections.length > 0 ? sections : segments).map((part) => {
    const code = elf.bytes(part);
    const starts = () => {
      ranges ??= unwindRanges(elf).map(({ start }) => start);
      return ranges.map((start) => start - part.address).filter((start) => start >= 0 && start < code.length);
    };
    return { address: part.address, code, starts };
  });
}
