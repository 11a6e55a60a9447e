import { type CodeMatch, checkPattern, findPattern, isQuick } from "../../binary/code/pattern.js";
import { type Elf, PF_X } from "../../binary/elf/index.js";
import { unwindRanges } from "../../binary/inspect/unwind-ranges.js";
import type { Module } from "../../kernel/process/modules.js";
import { matchesModule, moduleName } from "../../policy/function-pattern.js";
import { FAULTING } from "../../policy/instruction-pattern.js";
import type { InstructionSubscriber } from "../../policy/stack.js";
import type { PatchedMemory } from "./patched-memory.js";
import type { SiteHit, SiteOwner, Sites } from "./sites.js";

/** Receives threads that are about to execute a watched instruction. */
export interface PatternHits {
  reached(site: PatternSite, hit: SiteHit): number;
}

/** A watched instruction in a file's code. */
export class PatternSite implements SiteOwner {
  /** The pattern, as written. */
  readonly name: string;
  readonly module: string;
  readonly match: CodeMatch;
  readonly subscribers: readonly InstructionSubscriber[];
  readonly #hits: PatternHits;

  constructor(
    hits: PatternHits,
    module: string,
    match: CodeMatch,
    subscribers: readonly InstructionSubscriber[],
  ) {
    this.#hits = hits;
    this.module = module;
    this.match = match;
    this.subscribers = subscribers;
    this.name = subscribers[0]!.subscription.name;
  }

  hit(hit: SiteHit): number {
    return this.#hits.reached(this, hit);
  }
}

interface PatternSitesOptions {
  readonly sites: Sites;
  readonly hits: PatternHits;
  readonly problem: (text: string) => void;
}

interface Prepared {
  /** The address in the file. */
  readonly address: number;
  readonly owner: PatternSite;
}

const SECTION_EXECUTE = 4;
/** Decoding takes about a second for ten million bytes of code. */
const MOST_CODE = 16 * 1024 * 1024;
const MOST_SITES = 10_000;

/** Finds the watched instructions and maintains their sites. */
export class PatternSites {
  readonly #o: PatternSitesOptions;
  #subscribers: readonly InstructionSubscriber[] = [];
  #prepared = new Map<Elf, { main?: Prepared[][]; other?: Prepared[][] }>();
  #owners = new WeakSet<SiteOwner>();
  readonly #found = new Map<string, number>();

  constructor(options: PatternSitesOptions) {
    this.#o = options;
  }

  /** Replaces the subscriptions. Throws when a pattern is no instruction. */
  want(subscribers: readonly InstructionSubscriber[]): void {
    this.#subscribers = subscribers.filter(({ subscription }) => !FAULTING.has(subscription.name));
    for (const { subscription } of this.#subscribers) checkPattern(subscription.code!);
    this.#prepared = new Map();
    this.#owners = new WeakSet();
  }

  /** At how many places each pattern was found, in all files searched. */
  get found(): Readonly<Record<string, number>> {
    const names = this.#subscribers.map(({ subscription }) => subscription.name);
    return Object.fromEntries(names.map((name) => [name, this.#found.get(name) ?? 0]));
  }

  /** Code of a module was mapped at [from, to). Returns whether all sites could be placed. */
  place(tid: number, space: PatchedMemory, module: Module, from: number, to: number): boolean {
    if (this.#subscribers.length === 0 || module.isVdso) return true;
    const elf = module.elf();
    const { bias } = module;
    if (!elf || bias === undefined) return true;
    // One pattern after the other: an instruction may match several.
    return this.#prepare(elf, module)
      .map((prepared) => this.#placeOne(tid, space, module, bias, prepared, from, to))
      .every((placed) => placed);
  }

  #placeOne(
    tid: number,
    space: PatchedMemory,
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
        `${failed.length} of ${places.length} places of "${places[0]![1].name}" in ${path} are not seen: the instruction there cannot be moved`,
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
    const groups = new Map<string, InstructionSubscriber[]>();
    for (const subscriber of this.#subscribers) {
      const { name, module: meant } = subscriber.subscription;
      if (meant !== undefined && !matchesModule({ module: meant }, module.path, module.isMain)) continue;
      groups.set(name, [...(groups.get(name) ?? []), subscriber]);
    }
    return [...groups.values()].map((subscribers) => this.#findOne(elf, module, subscribers));
  }

  #findOne(elf: Elf, module: Module, subscribers: readonly InstructionSubscriber[]): Prepared[] {
    const { name, code: pattern } = subscribers[0]!.subscription;
    const found: Prepared[] = [];
    for (const { address, code, starts } of codeOf(elf)) {
      if (!isQuick(pattern!) && code.length > MOST_CODE) {
        this.#o.problem(
          `${module.path} has too much code to search for "${name}": add a rarer instruction to the pattern`,
        );
        continue;
      }
      for (const match of findPattern(code, pattern!, starts)) {
        const owner = new PatternSite(this.#o.hits, moduleName(module.path), match, subscribers);
        found.push({ address: address + match.offset, owner });
      }
    }
    if (found.length > MOST_SITES)
      this.#o.problem(
        `"${name}" matches ${found.length} places in ${module.path}: only the first ${MOST_SITES} are seen`,
      );
    const kept = found.slice(0, MOST_SITES);
    for (const { owner } of kept) this.#owners.add(owner);
    if (kept.length > 0) this.#found.set(name, (this.#found.get(name) ?? 0) + kept.length);
    return kept;
  }

  /** Removes the sites of instructions without a subscription. */
  removeOld(tid: number, space: PatchedMemory): void {
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
  /** The addresses at which its functions begin. */
  readonly starts: () => readonly number[];
}

/** Sections with code, or whole segments in files without sections. */
function codeOf(elf: Elf): Code[] {
  const sections = elf.sections.filter(
    ({ flags, address }) => (flags & SECTION_EXECUTE) !== 0 && address !== 0,
  );
  const segments = elf.segments.filter(({ type, flags }) => type === "load" && (flags & PF_X) !== 0);
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
