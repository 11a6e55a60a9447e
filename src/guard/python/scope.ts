import { any, type Value } from "./value.js";

/**
 * The names of a module or a function. Statements are followed in order, so a name has the value it got last; what runs
 * later (the body of a function) may meet any value that the name ever had.
 */
export class Scope {
  readonly #parent: Scope | undefined;
  readonly #now = new Map<string, Value>();
  readonly #ever = new Map<string, Value[]>();
  /** Modules whose names were all imported. */
  readonly stars: string[] = [];
  /** Names that belong to the module although a function assigns them. */
  readonly globals = new Set<string>();

  constructor(parent?: Scope) {
    this.#parent = parent;
  }

  get module(): Scope {
    return this.#parent?.module ?? this;
  }

  /** `maybe`: in a branch or a loop, where the value that was there before may still be. */
  set(name: string, value: Value, maybe: boolean): void {
    if (this.globals.has(name) && this.#parent) {
      this.#parent.set(name, value, true);
      return;
    }
    const before = this.#now.get(name);
    this.#now.set(name, maybe && before ? any([before, value]) : value);
    const ever = this.#ever.get(name);
    if (!ever) this.#ever.set(name, [value]);
    else if (ever.length < 12) ever.push(value);
  }

  /** Undefined when nothing of that name is known. */
  get(name: string): Value | undefined {
    return this.#now.get(name) ?? this.#parent?.later(name);
  }

  later(name: string): Value | undefined {
    const ever = this.#ever.get(name);
    return ever ? any(ever) : this.#parent?.later(name);
  }

  has(name: string): boolean {
    return this.#ever.has(name) || (this.#parent?.has(name) ?? false);
  }

  /** The names of this scope alone. */
  get own(): Iterable<[string, Value]> {
    return this.#now;
  }

  get imported(): readonly string[] {
    return this.#parent ? [...this.stars, ...this.#parent.imported] : this.stars;
  }
}
