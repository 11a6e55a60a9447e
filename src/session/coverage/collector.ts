import type { Elf } from "../../binary/elf/elf.js";
import type { Module } from "../../kernel/process/modules.js";
import { counted } from "../../nouns/counted.js";
import { matchesModule, moduleName, parseFunctionPattern } from "../../policy/function-pattern.js";
import type { PatchedMemory } from "../instrument/patched-memory.js";
import type { SiteHit, SiteOwner, Sites } from "../instrument/sites.js";
import type { FunctionToPatch, RingFunction } from "../ring/patcher.js";
import { mapCode } from "./code-map.js";
import type { CoveredModule } from "./module.js";
import type { CoverageOptions } from "./options.js";
import { COVERAGE_VERSION, type CoverageReport, reportModule } from "./report.js";

/** A module as one process has it: sites tell the file's blocks that they were run. */
class Mapped implements SiteOwner {
  constructor(
    readonly covered: CoveredModule,
    readonly bias: number,
  ) {}

  hit({ address }: SiteHit): number {
    this.covered.hit(address - this.bias);
    return 0;
  }
}

/**
 * Collects what is run of the files that are looked at, in all processes. A block has a site that goes away at the first
 * hit, so that each costs one stop; functions that are counted keep theirs.
 */
export class Collector {
  readonly #options: CoverageOptions;
  readonly #sites: Sites;
  readonly #patterns;
  readonly #problem: (text: string) => void;
  readonly #modules = new Map<Elf, CoveredModule>();

  constructor(options: CoverageOptions, sites: Sites, problem: (text: string) => void) {
    this.#options = options;
    this.#sites = sites;
    this.#problem = problem;
    this.#patterns = options.modules.map((module) => parseFunctionPattern(`${module}!*`));
  }

  /** Code has been mapped, and has not yet run. */
  mapped(tid: number, space: PatchedMemory, module: Module): void {
    const covered = this.#covered(module);
    const { bias } = module;
    if (!covered || bias === undefined || this.#options.fast) return;
    const addresses = covered.functions.flatMap(({ blocks }) => blocks.map(({ address }) => address + bias));
    const once = !this.#options.count;
    const failed = this.#sites.place(tid, space, addresses, new Mapped(covered, bias), { once });
    if (failed.length > 0)
      this.#problem(
        `${module.path}: ${counted(failed.length, "place")} cannot be watched: not counted as run`,
      );
  }

  /** What is known of a module, if it is one that is looked at. */
  #covered(module: Module): CoveredModule | undefined {
    if (module.isVdso || !this.#patterns.some((each) => matchesModule(each, module.path, module.isMain)))
      return undefined;
    const elf = module.elf();
    if (!elf?.isX64) return undefined;
    let covered = this.#modules.get(elf);
    if (!covered) {
      covered = mapCode(elf, module.path, this.#options.unit);
      this.#modules.set(elf, covered);
    }
    return covered;
  }

  /** The functions of a module, for the ring to count. */
  functionsOf(module: Module): FunctionToPatch[] {
    const file = moduleName(module.path);
    return (this.#covered(module)?.functions ?? []).map(({ name, address }) => ({
      name: `${file}!${name}`,
      module: file,
      symbol: name,
      address,
    }));
  }

  /** What it counted. */
  counted(counts: Iterable<readonly [called: RingFunction, count: number]>): void {
    for (const [{ file, address }, count] of counts) if (count > 0) this.#ofPath(file)?.hit(address, count);
  }

  #ofPath(path: string): CoveredModule | undefined {
    for (const module of this.#modules.values()) if (module.path === path) return module;
    return undefined;
  }

  report(): CoverageReport {
    const { unit, count } = this.#options;
    return {
      hermes: "coverage",
      version: COVERAGE_VERSION,
      unit,
      counted: count,
      modules: [...this.#modules.values()].map(reportModule).sort((a, b) => (a.path < b.path ? -1 : 1)),
    };
  }
}
