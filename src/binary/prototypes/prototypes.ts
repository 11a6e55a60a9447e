import { readFileSync } from "node:fs";
import { HermesError } from "../../nouns/errors.js";
import type { Elf } from "../elf/index.js";
import { DwarfPrototypes } from "./dwarf.js";
import { readPrototypes } from "./parse.js";
import { DeclarationScope } from "./scope.js";
import { ShippedPrototypes } from "./shipped.js";
import type { Prototype } from "./types.js";

/** All prototypes that a session knows: those of its user, then those that come with HERMES. */
export class Prototypes {
  readonly #shipped = new ShippedPrototypes();
  readonly #own: DeclarationScope[] = [];
  readonly #dwarf = new WeakMap<Elf, DwarfPrototypes | undefined>();

  /** Files of the user's own (docs/reference/prototypes.md). Later ones win. */
  constructor(files: readonly string[] = []) {
    for (const file of files) this.add(readOwn(file), file);
  }

  /** Types of the C library may be used without being declared. */
  add(text: string, file: string): DeclarationScope {
    const scope = new DeclarationScope(this.#shipped.of("libc"));
    readPrototypes(text, file, scope);
    this.#own.unshift(scope);
    return scope;
  }

  /**
   * Of a function of a module: `libc`, `libssl`, `app`. The module's name has no folder and no version. With its file,
   * the debug information in it (or beside it) is asked too: it knows types, but not what a function does with them.
   */
  of(module: string, symbol: string, elf?: Elf): Prototype | undefined {
    for (const scope of this.#own) {
      const own = scope.own(symbol);
      if (own && (!own.modules || own.modules.includes(module))) return own;
    }
    return this.#shipped.of(module)?.prototype(symbol) ?? (elf && this.#debug(elf)?.of(symbol));
  }

  /** Of several names of one function, the one by which it is declared first; undefined when none is. */
  plainest(module: string, names: readonly string[]): string | undefined {
    if (names.length < 2) return names[0];
    const scope = this.#shipped.of(module);
    let best: string | undefined;
    for (const name of names) {
      const place = scope?.placeOf(name) ?? Number.POSITIVE_INFINITY;
      if (place < (best === undefined ? Number.POSITIVE_INFINITY : scope!.placeOf(best))) best = name;
    }
    return best;
  }

  #debug(elf: Elf): DwarfPrototypes | undefined {
    if (!this.#dwarf.has(elf)) this.#dwarf.set(elf, DwarfPrototypes.of(elf));
    return this.#dwarf.get(elf);
  }

  /** The modules that the user's own files name. */
  modules(): string[] {
    return this.#own.flatMap(({ prototypes }) =>
      [...prototypes.values()].flatMap(({ modules = ["app"] }) => modules),
    );
  }

  /** The names of a module's functions that are known. */
  names(module: string): string[] {
    const scope = this.#shipped.of(module);
    const shipped = scope ? [...scope.prototypes.keys(), ...scope.aliases.keys()] : [];
    const own = this.#own.flatMap(({ prototypes }) =>
      [...prototypes.values()]
        .filter(({ modules }) => !modules || modules.includes(module))
        .map(({ name }) => name),
    );
    return [...new Set([...own, ...shipped])].sort();
  }
}

function readOwn(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const errno = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new HermesError("PROTOTYPES", { file, message: `cannot read it: ${errno}` }, { cause });
  }
}
