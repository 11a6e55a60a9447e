import type { Elf } from "../../binary/elf/index.js";
import type { Prototype, Prototypes } from "../../binary/prototypes/index.js";
import { REGISTER } from "../../kernel/binding/layout.js";
import type { Module } from "../../kernel/process/modules.js";
import {
  type FunctionPattern,
  matchesFunction,
  matchesModule,
  moduleName,
} from "../../policy/function-pattern.js";
import type { FunctionSubscriber } from "../../policy/stack.js";
import type { FunctionCalls, WatchedFunction } from "./calls.js";
import { type FunctionTarget, targetsOf } from "./function-targets.js";
import type { PatchedMemory } from "./patched-memory.js";
import { readWord } from "./read-code.js";
import type { ReturnSites } from "./return-sites.js";
import type { SiteHit, SiteOwner, Sites } from "./sites.js";

/** A function that a policy or recorder watches, in all processes that map its file. */
class WantedSite implements SiteOwner, WatchedFunction {
  readonly name: string;
  readonly module: string;
  readonly symbol: string | undefined;
  readonly prototype: Prototype | undefined;
  readonly entry: readonly FunctionSubscriber[];
  readonly returns: readonly FunctionSubscriber[];
  readonly isObserved: boolean;
  readonly #calls: FunctionCalls;

  constructor(
    calls: FunctionCalls,
    module: string,
    target: FunctionTarget,
    subscribers: readonly FunctionSubscriber[],
    prototype: Prototype | undefined,
  ) {
    this.#calls = calls;
    this.module = module;
    this.symbol = target.symbol;
    this.name = `${module}!${target.symbol ?? `0x${target.address.toString(16)}`}`;
    this.prototype = prototype;
    this.isObserved = subscribers.some(({ subscription }) => subscription.observes);
    this.entry = subscribers.filter(({ subscription }) => subscription.entry);
    this.returns = subscribers.filter(({ subscription }) => subscription.returns);
  }

  /** No policy decides on it. */
  get isOnlyObserved(): boolean {
    return this.isObserved && this.entry.length === 0 && this.returns.length === 0;
  }

  hit(hit: SiteHit): number {
    return this.#calls.called(this, hit);
  }
}

type PlaceChosen = (hit: SiteHit, address: number, chosen: WantedSite) => void;

/** An IFUNC resolver: it returns the address of the real function. */
class Chooser implements SiteOwner {
  readonly chosen: WantedSite;
  readonly #returns: ReturnSites;
  readonly #place: PlaceChosen;

  constructor(chosen: WantedSite, returns: ReturnSites, place: PlaceChosen) {
    this.chosen = chosen;
    this.#returns = returns;
    this.#place = place;
  }

  hit(hit: SiteHit): number {
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

/** A function of a file, and its subscriptions. */
interface Prepared {
  readonly target: FunctionTarget;
  readonly owner: Owner;
}

interface WatchedFunctionsOptions {
  readonly sites: Sites;
  readonly returns: ReturnSites;
  readonly calls: FunctionCalls;
  readonly prototypes: Prototypes;
  readonly problem: (text: string) => void;
}

/** Finds the watched functions and maintains their sites. */
export class WatchedFunctions {
  readonly #o: WatchedFunctionsOptions;
  #subscribers: readonly FunctionSubscriber[] = [];
  #prepared = new Map<Elf, { main?: Prepared[]; other?: Prepared[] }>();
  #owners = new WeakSet<Owner>();
  readonly #found = new Set<string>();
  readonly #names = new Set<string>();

  constructor(options: WatchedFunctionsOptions) {
    this.#o = options;
  }

  /** Replaces the subscriptions. */
  want(subscribers: readonly FunctionSubscriber[]): void {
    this.#subscribers = subscribers;
    this.#prepared = new Map();
    this.#owners = new WeakSet();
  }

  get subscribers(): readonly FunctionSubscriber[] {
    return this.#subscribers;
  }

  /** Patterns that matched no function in any mapped file. */
  get neverFound(): string[] {
    const texts = this.#subscribers.map(({ subscription }) => subscription.pattern.text);
    return [...new Set(texts)].filter((text) => !this.#found.has(text));
  }

  /** How many functions were found, in all mapped files. */
  get count(): number {
    return this.#names.size;
  }

  /**
   * Code of a module was mapped at [from, to). `late`: it may have run already. Returns whether all sites
   * could be placed.
   */
  place(tid: number, space: PatchedMemory, module: Module, from: number, to: number, late = false): boolean {
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
      `${name} at 0x${address.toString(16)} is not seen: its first instruction cannot be moved, or there is no free memory near it`,
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
    const byAddress = new Map<number, { target: FunctionTarget; wishes: FunctionSubscriber[] }>();
    for (const subscriber of this.#subscribers) {
      const { pattern } = subscriber.subscription;
      if (!matchesModule(pattern, module.path, module.isMain)) continue;
      const except = (subscriber.subscription.except ?? []).filter((each) =>
        matchesModule(each, module.path, module.isMain),
      );
      for (const target of targetsOf(elf, pattern)) {
        this.#found.add(pattern.text);
        const symbol = prototypes.plainest(name, target.names) ?? target.symbol;
        if (except.some((each) => isMeant(each, symbol, target))) continue;
        if (subscriber.subscription.observes && isGlob(pattern) && !target.exported && !module.isMain)
          continue;
        const known = byAddress.get(target.address);
        if (known) known.wishes.push(subscriber);
        else byAddress.set(target.address, { target: { ...target, symbol }, wishes: [subscriber] });
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

  readonly #placeAt = (hit: SiteHit, address: number, chosen: WantedSite): void => {
    if (address === 0 || !this.#owners.has(chosen)) return;
    // Several names may share one function on this machine (memcpy, memmove): record it once.
    const others = hit.space.site(address)?.owners.map(({ owner }) => owner) ?? [];
    if (chosen.isOnlyObserved && others.some((owner) => owner instanceof WantedSite && owner.isObserved))
      return;
    if (this.#o.sites.place(hit.tid, hit.space, [address], chosen).length > 0) this.#tell(chosen, address);
  };

  /** The resolver ran before we attached. The loader's tables hold its choice. */
  #placeChosen(
    tid: number,
    space: PatchedMemory,
    elf: Elf,
    bias: number,
    target: FunctionTarget,
    { chosen }: Chooser,
  ): void {
    const slots = elf.relocations.filter(
      ({ kind, addend, symbol }) =>
        (kind === "ifunc" && addend === target.address) ||
        ((kind === "jump" || kind === "global") && symbol === target.symbol),
    );
    const addresses = slots.map(({ address }) => readWord(tid, bias + address) ?? 0);
    const chosenOnes = new Set(addresses.filter((at) => at !== 0 && at !== bias + target.address));
    this.#o.sites.place(tid, space, [...chosenOnes], chosen);
  }

  /** Removes the sites of functions without a subscription. */
  removeOld(tid: number, space: PatchedMemory): void {
    const gone = new Map<SiteOwner, number[]>();
    for (const { address, owners } of space.sites)
      for (const { owner } of owners)
        if ((owner instanceof WantedSite || owner instanceof Chooser) && !this.#owners.has(owner))
          gone.set(owner, [...(gone.get(owner) ?? []), address]);
    for (const [owner, addresses] of gone) this.#o.sites.remove(tid, space, addresses, owner);
  }

  /** The function as the current policies want it, for a call made under older ones. */
  current(fn: WatchedFunction, space: PatchedMemory, address: number): WatchedFunction | undefined {
    if (fn instanceof WantedSite && this.#owners.has(fn)) return fn;
    return space
      .site(address)
      ?.owners.map(({ owner }) => owner)
      .find((owner): owner is WantedSite => owner instanceof WantedSite && this.#owners.has(owner));
  }
}

/** A glob matches the displayed name only; a full name matches any alias of the function. */
function isMeant(
  pattern: FunctionPattern,
  shown: string | undefined,
  { names, address }: FunctionTarget,
): boolean {
  if (matchesFunction(pattern, shown, address)) return true;
  return !isGlob(pattern) && names.some((name) => matchesFunction(pattern, name, address));
}

/** A glob matches only exported functions of a library; internal ones must be named in full. */
function isGlob({ what }: FunctionPattern): boolean {
  return what.by === "symbol" && /[*?]/.test(what.glob);
}
