import type { Span } from "../finding.js";

/**
 * The form that every command is brought into: a flat list of invocations, each with the words that it would really
 * get. The other files of this folder either produce invocations or judge them.
 */
export interface Invocation {
  /** Empty for a lone redirection or assignment. */
  readonly argv: readonly Word[];
  /** The program's name, without its folder. */
  readonly program: string;
  readonly assignments: readonly Assigned[];
  readonly redirects: readonly Redirected[];
  /** What its stdin carries; undefined for the terminal. */
  readonly input: Input | undefined;
  /** Its working directory; may have holes. */
  readonly cwd: string;
  /** The wrappers around it, outermost first: `sudo`, `sh -c`, `$(…)`. */
  readonly via: readonly string[];
  readonly span: Span;
  /** It is in a file of the project, not in the command itself: only refusals count. */
  readonly filed: boolean;
  /** It only looks like a command: what would be refused asks, nothing else counts. */
  readonly suspected: boolean;
}

/** A table by name. A plain object would also have `constructor` and the like. */
export function byName<T>(rows: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(rows));
}

/** Stands for a part that is known only at run time. No program argument can contain it. */
export const HOLE = "\0";

export interface Word {
  /** May have holes. */
  readonly text: string;
  readonly span: Span;
  /** It has an active `*`, `?` or `[`. */
  readonly glob: boolean;
  /** Environment variables in it. */
  readonly variables: readonly string[];
  /** The programs whose output is in it, or whose stream it names: `$(…)`, `<(…)`. */
  readonly from: readonly Invocation[];
}

export interface Assigned {
  readonly name: string;
  readonly value: Word;
  /** Several for an array. */
  readonly values: readonly string[];
}

export interface Redirected {
  /** `<` reads; `>` and `>>` write; `<>` does both. */
  readonly operator: "<" | ">" | ">>" | "<>";
  readonly target: Word;
}

export interface Input {
  /** May have holes. */
  readonly text: string;
  /** The programs to the left of the pipe. */
  readonly from: readonly Invocation[];
  readonly kind: "pipe" | "here" | "file";
  readonly variables: readonly string[];
}

const NONE: readonly never[] = [];

export function word(text: string, span: Span, more: Partial<Word> = {}): Word {
  return { text, span, glob: false, variables: NONE, from: NONE, ...more };
}

export const isDynamic = (text: string): boolean => text.includes(HOLE);

/** A program's name without its folder and without Windows's extensions. */
export function programName(name: string): string {
  const base = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  return base.at(-4) === "." && /\.(exe|cmd|bat|com)$/i.test(base) ? base.slice(0, -4).toLowerCase() : base;
}
