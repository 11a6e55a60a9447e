import type { Span } from "../finding.js";

/**
 * The one form that every command is brought into, however it was written: a flat list of invocations, each with the
 * words it would really get. Everything else in this folder either makes these or judges them.
 */
export interface Invocation {
  /** Empty when there is only a redirection or an assignment. */
  readonly argv: readonly Word[];
  /** The program's name, without its folder. */
  readonly program: string;
  readonly assignments: readonly Assigned[];
  readonly redirects: readonly Redirected[];
  /** What its stdin carries, when that is not just the terminal. */
  readonly input: Input | undefined;
  /** Where it would run; may have holes. */
  readonly cwd: string;
  /** What it was wrapped in, outermost first: `sudo`, `sh -c`, `$(…)`. */
  readonly via: readonly string[];
  readonly span: Span;
  /** It stands in a file of the project, not in the command itself: only what is beyond doubt counts. */
  readonly filed: boolean;
  /** It only reads like a command: what would be refused is asked about, nothing else counts. */
  readonly suspected: boolean;
}

/** A table by name. A plain object would also answer for `constructor` and the like. */
export function byName<T>(rows: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(rows));
}

/** Stands for whatever cannot be known before it runs. No argument of a program can contain it. */
export const HOLE = "\0";

export interface Word {
  /** With holes. */
  readonly text: string;
  readonly span: Span;
  /** It has an active `*`, `?` or `[`. */
  readonly glob: boolean;
  /** Variables of the environment in it. */
  readonly variables: readonly string[];
  /** The programs whose output is in it, or which it names: `$(…)`, `<(…)`. */
  readonly from: readonly Invocation[];
}

export interface Assigned {
  readonly name: string;
  readonly value: Word;
  /** More than one of an array. */
  readonly values: readonly string[];
}

export interface Redirected {
  /** `<` reads; `>` and `>>` write; `<>` does both. */
  readonly operator: "<" | ">" | ">>" | "<>";
  readonly target: Word;
}

export interface Input {
  /** With holes. */
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

/** A program's name without its folder and without what Windows adds to it. */
export function programName(name: string): string {
  const base = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  return base.at(-4) === "." && /\.(exe|cmd|bat|com)$/i.test(base) ? base.slice(0, -4).toLowerCase() : base;
}
