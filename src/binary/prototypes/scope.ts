import { type FlagTable, flagTable } from "../../abi/flags.js";
import type { CType, IntType, Prototype, StructType } from "./types.js";

/** The names that declarations may use: those of an outer scope, and those that were declared since. */
export class DeclarationScope {
  readonly #outer: DeclarationScope | undefined;
  #places: Map<string, number> | undefined;
  readonly types = new Map<string, CType>();
  /** By "struct x", "union x", "enum x". */
  readonly tags = new Map<string, StructType | IntType>();
  readonly tables = new Map<string, FlagTable>();
  readonly constants = new Map<string, number>();
  readonly prototypes = new Map<string, Prototype>();
  /** Another name -> the function whose prototype it shares. */
  readonly aliases = new Map<string, string>();

  constructor(outer?: DeclarationScope) {
    this.#outer = outer;
  }

  type(name: string): CType | undefined {
    return this.types.get(name) ?? this.#outer?.type(name);
  }

  tag(name: string): StructType | IntType | undefined {
    return this.tags.get(name) ?? this.#outer?.tag(name);
  }

  constant(name: string): number | undefined {
    return this.constants.get(name) ?? this.#outer?.constant(name);
  }

  /** Tables of values' names: declared ones, and those of the system calls. */
  table(name: string): FlagTable | undefined {
    return this.tables.get(name) ?? this.#outer?.table(name) ?? systemTable(name);
  }

  prototype(name: string): Prototype | undefined {
    return this.own(name) ?? this.#outer?.prototype(name);
  }

  /** How many were declared before it; Infinity when it is not declared here. */
  placeOf(name: string): number {
    this.#places ??= new Map([...this.prototypes.keys()].map((each, i) => [each, i]));
    return this.#places.get(name) ?? Number.POSITIVE_INFINITY;
  }

  /** Declared here, not outside. */
  own(name: string): Prototype | undefined {
    const alias = this.aliases.get(name);
    return alias === undefined ? this.prototypes.get(name) : this.prototype(alias);
  }
}

function systemTable(name: string): FlagTable | undefined {
  try {
    return flagTable(name);
  } catch {
    return undefined;
  }
}
