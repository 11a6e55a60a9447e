import { ANY_DEPTH, type CharacterSet, isIn, ONE, STAR, type Token } from "../../nouns/glob.js";
import type { Glob } from "./glob.js";

/** Writes the transition table, `width` bytes for each state. 0 is no state, 1 is the first. */
interface Transitions {
  readonly next: Uint16Array;
  readonly states: number;
  readonly width: number;
  /** Called with every index that it has written to. */
  readonly wrote?: (index: number) => void;
}

const SLASH = 47;
const START = 1;
/** How many positions all states together may hold: limits memory, and the time for a new state. */
const MAX_POSITIONS = 2_000_000;

/** One position in a pattern: what it requires of the next character. */
type Step =
  | { readonly is: "character"; readonly code: number }
  | { readonly is: "one" }
  | { readonly is: "set"; readonly set: CharacterSet }
  | { readonly is: "star" }
  /** Inside components that a ** matches. */
  | { readonly is: "depth"; readonly after: Boundary }
  /** The component is complete if it ends here. */
  | { readonly is: "end"; readonly after: Boundary };

/** Between two components. */
interface Boundary {
  /** Positions after the next slash. */
  readonly entries: readonly number[];
  /** True when the pattern matches a path that ends here. */
  readonly accepts: boolean;
}

const ONE_STEP: Step = { is: "one" };
const STAR_STEP: Step = { is: "star" };

/**
 * Matches many patterns at once, one character at a time: the same patterns match all paths that lead to the
 * same state. States are created when a path first needs them, so unused ones cost nothing.
 */
export class PathAutomaton {
  readonly #table: Transitions;
  readonly #steps: Step[] = [];
  /** By state. */
  readonly #positions: Int32Array[] = [];
  readonly #excluded: boolean[] = [];
  readonly #byKey = new Map<number, number[]>();
  /** By position: whether a match of its pattern excludes the path. */
  readonly #excludes: boolean[] = [];
  #held = 0;

  /** Paths that match one of `excluded` have no state. */
  constructor(globs: readonly Glob[], excluded: readonly Glob[], table: Transitions) {
    this.#table = table;
    this.#positions.push(new Int32Array());
    this.#excluded.push(true);
    const entries = [
      ...globs.flatMap((glob) => this.#add(glob, false)),
      ...excluded.flatMap((glob) => this.#add(glob, true)),
    ];
    // The first state is before the first slash: like the end of a component, with every pattern still
    // possible.
    const before: Step = { is: "end", after: { entries, accepts: false } };
    this.#steps.push(before);
    this.#excludes.push(false);
    this.#stateOf([this.#steps.length - 1]);
  }

  /** The state of an absolute path; 0 when it has none: excluded, not plain ASCII, or no room. */
  follow(path: string): number {
    const { next, width } = this.#table;
    if (path === "/") return 0;
    let state = START;
    for (let i = 0; i < path.length; i++) {
      const code = path.charCodeAt(i);
      if (code === 0 || code >= width) return 0;
      let to = next[state * width + code]!;
      if (to === 0) {
        to = this.#stateOf(this.#step(this.#positions[state]!, code));
        if (to === 0) return 0;
        next[state * width + code] = to;
        this.#table.wrote?.(state * width + code);
      }
      state = to;
    }
    return this.#excluded[state] ? 0 : state;
  }

  // ---------------------------------------------------------------- from patterns to positions

  /** Returns the positions after the first slash. */
  #add(glob: Glob, excludes: boolean): readonly number[] {
    let after: Boundary = { entries: [], accepts: true };
    for (const part of glob.parts.toReversed()) {
      if (part === ANY_DEPTH) {
        // It matches nothing, or one component and is then in the same position again.
        const boundary = { entries: [] as number[], accepts: after.accepts };
        boundary.entries.push(this.#push({ is: "depth", after: boundary }, excludes), ...after.entries);
        after = boundary;
      } else {
        const tokens = typeof part === "string" ? [part] : part.tokens;
        after = { entries: [this.#pushTokens(tokens, after, excludes)], accepts: false };
      }
    }
    return after.entries;
  }

  #pushTokens(tokens: readonly Token[], after: Boundary, excludes: boolean): number {
    const first = this.#steps.length;
    for (const token of tokens) {
      if (token === STAR) this.#push(STAR_STEP, excludes);
      else if (token === ONE) this.#push(ONE_STEP, excludes);
      else if (typeof token === "string")
        for (let i = 0; i < token.length; i++)
          this.#push({ is: "character", code: token.charCodeAt(i) }, excludes);
      else this.#push({ is: "set", set: token }, excludes);
    }
    this.#push({ is: "end", after }, excludes);
    return first;
  }

  #push(step: Step, excludes: boolean): number {
    this.#excludes.push(excludes);
    return this.#steps.push(step) - 1;
  }

  // ---------------------------------------------------------------- from positions to states

  #step(from: Int32Array, code: number): number[] {
    const to: number[] = [];
    for (const at of from) {
      const step = this.#steps[at]!;
      if (code === SLASH) {
        if (step.is === "end" || step.is === "depth") for (const entry of step.after.entries) to.push(entry);
      } else if (step.is === "depth" || step.is === "star") to.push(at);
      else if (takes(step, code)) to.push(at + 1);
    }
    return to;
  }

  /** The state of these positions, and of those that a * reaches by matching nothing. */
  #stateOf(positions: number[]): number {
    for (const at of positions) if (this.#steps[at]!.is === "star") positions.push(at + 1);
    const sorted = Int32Array.from(new Set(positions)).sort();
    let key = sorted.length;
    for (const at of sorted) key = (Math.imul(key, 31) + at) | 0;
    const alike = this.#byKey.get(key) ?? [];
    const known = alike.find((state) => equal(this.#positions[state]!, sorted));
    if (known !== undefined) return known;
    const state = this.#positions.length;
    this.#held += sorted.length;
    if (state >= this.#table.states || this.#held > MAX_POSITIONS) return 0;
    this.#byKey.set(key, [...alike, state]);
    this.#positions.push(sorted);
    this.#excluded.push(sorted.some((at) => this.#excludes[at] && accepts(this.#steps[at]!)));
    return state;
  }
}

function takes(step: Step, code: number): boolean {
  if (step.is === "character") return step.code === code;
  return step.is === "one" || (step.is === "set" && isIn(step.set, code));
}

function accepts(step: Step): boolean {
  return (step.is === "end" || step.is === "depth") && step.after.accepts;
}

function equal(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}
