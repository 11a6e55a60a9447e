import type { Address } from "../../nouns/address.js";
import { AddressIndex } from "../match/address-index.js";
import { commandNames } from "../match/argv.js";
import { matchBelow } from "../match/path.js";
import { PathIndex } from "../match/path-index.js";
import { ANYWHERE } from "../match/subject.js";
import { commandLine } from "./conditions.js";
import { type PolicyRule, type RuleInput, restricts } from "./rule.js";

const NONE: readonly PolicyRule[] = [];

/** The rules that may concern one kind of effect, indexed so that few of them must be tried. */
export class RuleSet {
  /** In order. */
  readonly all: readonly PolicyRule[];
  /** In order; rules without a key for lookups. */
  readonly #always: PolicyRule[] = [];
  readonly #byPath = new PathIndex<PolicyRule>();
  readonly #byAddress = new AddressIndex<PolicyRule>();
  readonly #byProgram = new Map<string, PolicyRule[]>();
  readonly #restrictingPaths: PolicyRule[] = [];
  #pathCount = 0;
  #addressCount = 0;

  #isIndexed = false;

  constructor(rules: readonly PolicyRule[]) {
    this.all = [...rules].sort((a, b) => a.order - b.order);
  }

  /** Most sets are never used in a run: they are indexed on first use. */
  #index(): void {
    this.#isIndexed = true;
    for (const rule of this.all) this.#add(rule);
  }

  #add(rule: PolicyRule): void {
    const { paths, addresses, program } = rule;
    if (paths && paths.included.length > 0) {
      this.#pathCount++;
      for (const glob of paths.included) this.#byPath.add(glob, rule);
      if (restricts(rule)) this.#restrictingPaths.push(rule);
    } else if (addresses && addresses.included.length > 0) {
      this.#addressCount++;
      this.#byAddress.add(addresses, rule);
    } else if (program !== undefined) {
      const known = this.#byProgram.get(program);
      if (known) known.push(rule);
      else this.#byProgram.set(program, [rule]);
    } else this.#always.push(rule);
  }

  /** In order, every rule that may match, and some that do not. */
  candidates(input: RuleInput): readonly PolicyRule[] {
    const { path, address } = input.subject;
    if (path === null) return this.all;
    if (!this.#isIndexed) this.#index();
    const found: PolicyRule[] = [];
    if (this.#pathCount > 0 && path !== undefined) this.#findByPath(input, path, found);
    if (this.#addressCount > 0 && address !== undefined) found.push(...this.#findByAddress(address));
    if (this.#byProgram.size > 0) {
      const command = commandLine(input);
      if (!command) return this.all;
      for (const name of commandNames(command)) found.push(...(this.#byProgram.get(name) ?? NONE));
    }
    if (found.length === 0) return this.#always;
    return inOrder(found, this.#always);
  }

  #findByPath({ subject }: RuleInput, path: string, found: PolicyRule[]): void {
    found.push(...this.#byPath.find(path));
    if (subject.alias !== undefined) found.push(...this.#byPath.find(subject.alias));
    if (subject.subtree)
      for (const rule of this.#restrictingPaths) if (matchBelow(rule.paths!, path)) found.push(rule);
  }

  #findByAddress(address: Address | typeof ANYWHERE): readonly PolicyRule[] {
    return address === ANYWHERE ? this.#byAddress.all : this.#byAddress.find(address);
  }
}

/** Merges both lists, each rule once. */
function inOrder(found: PolicyRule[], always: readonly PolicyRule[]): readonly PolicyRule[] {
  if (found.length > 1) found.sort((a, b) => a.order - b.order);
  const merged: PolicyRule[] = [];
  let a = 0;
  for (const rule of found) {
    while (a < always.length && always[a]!.order < rule.order) merged.push(always[a++]!);
    if (merged.at(-1) !== rule) merged.push(rule);
  }
  while (a < always.length) merged.push(always[a++]!);
  return merged;
}
