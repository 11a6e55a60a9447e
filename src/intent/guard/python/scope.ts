import { any, type PyValue } from "./value.js";

/**
 * The names of a module or a function. Statements are followed in order, so a name has its last value. Code that runs
 * later (the body of a function) may see any value that the name ever had.
 */
export class PythonScope {
  readonly #parent: PythonScope | undefined;
  readonly #now = new Map<string, PyValue>();
  readonly #ever = new Map<string, PyValue[]>();
  /** Modules whose names were all imported. */
  readonly stars: string[] = [];
  /** Names that a function declares global. */
  readonly globals = new Set<string>();

  constructor(parent?: PythonScope) {
    this.#parent = parent;
  }

  get module(): PythonScope {
    return this.#parent?.module ?? this;
  }

  /** `maybe`: in a branch or a loop, where the previous value may remain. */
  set(name: string, value: PyValue, maybe: boolean): void {
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

  /** Undefined when the name is unknown. */
  get(name: string): PyValue | undefined {
    return this.#now.get(name) ?? this.#parent?.later(name);
  }

  later(name: string): PyValue | undefined {
    const ever = this.#ever.get(name);
    return ever ? any(ever) : this.#parent?.later(name);
  }

  has(name: string): boolean {
    return this.#ever.has(name) || (this.#parent?.has(name) ?? false);
  }

  /** The names of this scope alone. */
  get own(): Iterable<[string, PyValue]> {
    return this.#now;
  }

  get imported(): readonly string[] {
    return this.#parent ? [...this.stars, ...this.#parent.imported] : this.stars;
  }
}
