import type { Elf } from "../elf/index.js";
import { REGISTER } from "../kernel/layout.js";
import {
  type FunctionPattern,
  matchesFunction,
  matchesModule,
  moduleName,
} from "../policy/function-pattern.js";
import type { FunctionWish } from "../policy/stack.js";
import type { Module } from "../process/modules.js";
import type { Prototype, Prototypes } from "../prototypes/index.js";
import type { Calls, WantedFunction } from "./calls.js";
import { wordAt } from "./code-at.js";
import type { Returns } from "./returns.js";
import type { Hit, SiteOwner, Sites } from "./sites.js";
import type { Space } from "./space.js";
import { type Target, targetsOf } from "./targets.js";

/** A function that somebody wants to see, in whatever process its file is mapped. */
class WantedSite implements SiteOwner, WantedFunction {
  readonly name: string;
  readonly module: string;
  readonly symbol: string | undefined;
  readonly prototype: Prototype | undefined;
  readonly entry: readonly FunctionWish[];
  readonly returns: readonly FunctionWish[];
  readonly isObserved: boolean;
  readonly #calls: Calls;

  constructor(
    calls: Calls,
    module: string,
    target: Target,
    wishes: readonly FunctionWish[],
    prototype: Prototype | undefined,
  ) {
    this.#calls = calls;
    this.module = module;
    this.symbol = target.symbol;
    this.name = `${module}!${target.symbol ?? `0x${target.address.toString(16)}`}`;
    this.prototype = prototype;
    this.isObserved = wishes.some(({ interest }) => interest.observes);
    this.entry = wishes.filter(({ interest }) => interest.entry);
    this.returns = wishes.filter(({ interest }) => interest.returns);
  }

  /** Nobody decides on it. */
  get isOnlyObserved(): boolean {
    return this.isObserved && this.entry.length === 0 && this.returns.length === 0;
  }

  hit(hit: Hit): number {
    return this.#calls.called(this, hit);
  }
}

type PlaceChosen = (hit: Hit, address: number, chosen: WantedSite) => void;

/** An IFUNC's resolver: what it returns is the function. */
class Chooser implements SiteOwner {
  readonly chosen: WantedSite;
  readonly #returns: Returns;
  readonly #place: PlaceChosen;

  constructor(chosen: WantedSite, returns: Returns, place: PlaceChosen) {
    this.chosen = chosen;
    this.#returns = returns;
    this.#place = place;
  }

  hit(hit: Hit): number {
    this.#returns.await(hit, {
      returned: (then) => {
        this.#place(then, then.registers.get(REGISTER.rax), this.chosen);
        return 0;
      },
    });
    return 0;
  }
}

type Owner = WantedSite | Chooser;

/** A function of a file, and who wants it. */
interface Prepared {
  readonly target: Target;
  readonly owner: Owner;
}

export interface FunctionsOptions {
  readonly sites: Sites;
  readonly returns: Returns;
  readonly calls: Calls;
  readonly prototypes: Prototypes;
  readonly problem: (text: string) => void;
}

/** Which functions are looked at, and the sites that see to it. */
export class Functions {
  readonly #o: FunctionsOptions;
  #wishes: readonly FunctionWish[] = [];
  #prepared = new Map<Elf, { main?: Prepared[]; other?: Prepared[] }>();
  #owners = new WeakSet<Owner>();
  readonly #found = new Set<string>();
  readonly #names = new Set<string>();

  constructor(options: FunctionsOptions) {
    this.#o = options;
  }

  /** From now on these are wanted. */
  want(wishes: readonly FunctionWish[]): void {
    this.#wishes = wishes;
    this.#prepared = new Map();
    this.#owners = new WeakSet();
  }

  get wishes(): readonly FunctionWish[] {
    return this.#wishes;
  }

  /** Patterns that fitted no function of anything that was mapped. */
  get neverFound(): string[] {
    const texts = this.#wishes.map(({ interest }) => interest.pattern.text);
    return [...new Set(texts)].filter((text) => !this.#found.has(text));
  }

  /** How many functions were found, in whatever was mapped. */
  get count(): number {
    return this.#names.size;
  }

  /** Code of a module was mapped at [from, to). `late`: it may have run already. Returns whether all could be placed. */
  place(tid: number, space: Space, module: Module, from: number, to: number, late = false): boolean {
    const elf = module.elf();
    const { bias } = module;
    if (!elf || bias === undefined) return true;
    const places: [number, Owner][] = [];
    for (const { target, owner } of this.#prepare(elf, module)) {
      const address = bias + target.address;
      if (address < from || address >= to) continue;
      places.push([address, owner]);
      if (late && owner instanceof Chooser) this.#placeChosen(tid, space, elf, bias, target, owner);
    }
    if (places.length === 0) return true;
    const failed = new Set(this.#o.sites.placeEach(tid, space, places));
    for (const [address, owner] of places)
      if (failed.has(address)) this.#tell(owner instanceof Chooser ? owner.chosen : owner, address);
    return failed.size === 0;
  }

  #tell({ name }: WantedSite, address: number): void {
    this.#o.problem(
      `${name} at 0x${address.toString(16)} is not seen: its first instruction cannot be executed elsewhere, or no memory can be had near it`,
    );
  }

  #prepare(elf: Elf, module: Module): Prepared[] {
    let ofFile = this.#prepared.get(elf);
    if (!ofFile) {
      ofFile = {};
      this.#prepared.set(elf, ofFile);
    }
    const part = module.isMain ? "main" : "other";
    ofFile[part] ??= this.#find(elf, module);
    return ofFile[part];
  }

  #find(elf: Elf, module: Module): Prepared[] {
    const { calls, prototypes, returns } = this.#o;
    const name = moduleName(module.path);
    const byAddress = new Map<number, { target: Target; wishes: FunctionWish[] }>();
    for (const wish of this.#wishes) {
      const { pattern } = wish.interest;
      if (!matchesModule(pattern, module.path, module.isMain)) continue;
      const except = (wish.interest.except ?? []).filter((each) =>
        matchesModule(each, module.path, module.isMain),
      );
      for (const target of targetsOf(elf, pattern)) {
        this.#found.add(pattern.text);
        const symbol = prototypes.plainest(name, target.names) ?? target.symbol;
        if (except.some((each) => isMeant(each, symbol, target))) continue;
        if (wish.interest.observes && isGlob(pattern) && !target.exported && !module.isMain) continue;
        const known = byAddress.get(target.address);
        if (known) known.wishes.push(wish);
        else byAddress.set(target.address, { target: { ...target, symbol }, wishes: [wish] });
      }
    }
    return [...byAddress.values()].map(({ target, wishes }) => {
      const { symbol } = target;
      const prototype = symbol === undefined ? undefined : prototypes.of(name, symbol, elf);
      const site = new WantedSite(calls, name, target, wishes, prototype);
      this.#names.add(site.name);
      const owner = target.chooses ? new Chooser(site, returns, this.#placeAt) : site;
      this.#owners.add(owner).add(site);
      return { target, owner };
    });
  }

  readonly #placeAt = (hit: Hit, address: number, chosen: WantedSite): void => {
    if (address === 0 || !this.#owners.has(chosen)) return;
    // Of functions that are one and the same in this machine (memcpy, memmove) one is recorded.
    const others = hit.space.site(address)?.owners.map(({ owner }) => owner) ?? [];
    if (chosen.isOnlyObserved && others.some((owner) => owner instanceof WantedSite && owner.isObserved))
      return;
    if (this.#o.sites.place(hit.tid, hit.space, [address], chosen).length > 0) this.#tell(chosen, address);
  };

  /** The choice was made before we came: it stands in the tables that the loader filled in. */
  #placeChosen(tid: number, space: Space, elf: Elf, bias: number, target: Target, { chosen }: Chooser): void {
    const slots = elf.relocations.filter(
      ({ kind, addend, symbol }) =>
        (kind === "ifunc" && addend === target.address) ||
        ((kind === "jump" || kind === "global") && symbol === target.symbol),
    );
    const addresses = slots.map(({ address }) => wordAt(tid, bias + address) ?? 0);
    const chosenOnes = new Set(addresses.filter((at) => at !== 0 && at !== bias + target.address));
    this.#o.sites.place(tid, space, [...chosenOnes], chosen);
  }

  /** Takes away the sites of functions that are no longer wanted. */
  removeOld(tid: number, space: Space): void {
    const gone = new Map<SiteOwner, number[]>();
    for (const { address, owners } of space.sites)
      for (const { owner } of owners)
        if ((owner instanceof WantedSite || owner instanceof Chooser) && !this.#owners.has(owner))
          gone.set(owner, [...(gone.get(owner) ?? []), address]);
    for (const [owner, addresses] of gone) this.#o.sites.remove(tid, space, addresses, owner);
  }

  /** A function that was called while other policies were in force, as it is wanted now. */
  current(fn: WantedFunction, space: Space, address: number): WantedFunction | undefined {
    if (fn instanceof WantedSite && this.#owners.has(fn)) return fn;
    return space
      .site(address)
      ?.owners.map(({ owner }) => owner)
      .find((owner): owner is WantedSite => owner instanceof WantedSite && this.#owners.has(owner));
  }
}

/** Globs are about the name that is shown, a name in full about any that the function has. */
function isMeant(pattern: FunctionPattern, shown: string | undefined, { names, address }: Target): boolean {
  if (matchesFunction(pattern, shown, address)) return true;
  return !isGlob(pattern) && names.some((name) => matchesFunction(pattern, name, address));
}

/** Of a library's functions it means those that others use; what a library keeps to itself is named in full. */
function isGlob({ what }: FunctionPattern): boolean {
  return what.by === "symbol" && /[*?]/.test(what.glob);
}
