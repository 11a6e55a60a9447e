import { ANY_DEPTH, type Part } from "../../nouns/glob.js";
import { type Glob, matchGlob, split } from "./glob.js";

interface Entry<T> {
  readonly glob: Glob;
  readonly value: T;
}

interface Node<T> {
  children: Map<string, Node<T>> | undefined;
  /** Patterns that end here. */
  exact: T[] | undefined;
  /** Patterns that are `…/**` from here. */
  subtree: T[] | undefined;
  globs: Entry<T>[] | undefined;
}

const node = <T>(): Node<T> => ({
  children: undefined,
  exact: undefined,
  subtree: undefined,
  globs: undefined,
});

/**
 * Many patterns, few comparisons: a pattern is stored at its literal prefix or, without one, under one of its
 * literal components. The remaining comparisons do not grow with the number of patterns elsewhere.
 */
export class PathIndex<T> {
  readonly #root: Node<T> = node();
  readonly #byName = new Map<string, Entry<T>[]>();
  readonly #bySuffix = new Map<string, Entry<T>[]>();
  readonly #anywhere: Entry<T>[] = [];

  add(glob: Glob, value: T): void {
    if (glob.literal.length > 0 || glob.exact) {
      this.#addRooted(glob, value);
      return;
    }
    const entry = { glob, value };
    const name = glob.parts.findLast((part) => typeof part === "string");
    const suffix = suffixOf(glob.parts.at(-1));
    if (name !== undefined) push(this.#byName, name, entry);
    else if (suffix !== undefined) push(this.#bySuffix, suffix, entry);
    else this.#anywhere.push(entry);
  }

  #addRooted(glob: Glob, value: T): void {
    let at = this.#root;
    for (const component of glob.literal) {
      at.children ??= new Map();
      let next = at.children.get(component);
      if (!next) {
        next = node();
        at.children.set(component, next);
      }
      at = next;
    }
    const rest = glob.parts.slice(glob.literal.length);
    if (rest.length === 0) at.exact = [...(at.exact ?? []), value];
    else if (rest.length === 1 && rest[0] === ANY_DEPTH) at.subtree = [...(at.subtree ?? []), value];
    else at.globs = [...(at.globs ?? []), { glob, value }];
  }

  /** Values of all matching patterns, unordered; a value may occur twice. */
  find(path: string): T[] {
    const components = split(path);
    const found: T[] = [];
    this.#findRooted(components, found);
    for (const entry of this.#anywhere) if (matchGlob(entry.glob, components)) found.push(entry.value);
    if (this.#byName.size > 0)
      for (const component of new Set(components)) collect(this.#byName.get(component), components, found);
    if (this.#bySuffix.size > 0) {
      const name = components.at(-1) ?? "";
      const dot = name.lastIndexOf(".");
      if (dot >= 0) collect(this.#bySuffix.get(name.slice(dot)), components, found);
    }
    return found;
  }

  #findRooted(components: readonly string[], found: T[]): void {
    let at: Node<T> | undefined = this.#root;
    for (let depth = 0; ; depth++) {
      if (at.subtree) found.push(...at.subtree);
      collect(at.globs, components, found);
      if (depth === components.length) {
        if (at.exact) found.push(...at.exact);
        return;
      }
      at = at.children?.get(components[depth]!);
      if (!at) return;
    }
  }
}

function collect<T>(
  entries: readonly Entry<T>[] | undefined,
  components: readonly string[],
  into: T[],
): void {
  if (!entries) return;
  for (const { glob, value } of entries) if (matchGlob(glob, components)) into.push(value);
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}

/** `.pem` for `*.pem` and the like: every name that the component matches ends in it. */
function suffixOf(part: Part | undefined): string | undefined {
  if (part === undefined || typeof part !== "object") return undefined;
  const last = part.tokens.at(-1);
  if (typeof last !== "string") return undefined;
  const dot = last.lastIndexOf(".");
  return dot < 0 ? undefined : last.slice(dot);
}
