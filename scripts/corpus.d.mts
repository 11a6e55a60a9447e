export interface CorpusInput {
  readonly id: string;
  readonly kind: import("../src/intent/guard/subject.js").Kind;
  readonly hostile: boolean;
  /** Of a half that was written down and not looked at while rules were made. */
  readonly held: boolean;
  /** Of the other half of such a class. */
  readonly dev: boolean;
  readonly input: unknown;
  readonly [field: string]: unknown;
}

export interface Counts {
  readonly hostile: number;
  readonly missed: readonly CorpusInput[];
  readonly harmless: number;
  readonly refused: readonly CorpusInput[];
  readonly asked: readonly CorpusInput[];
}

export function readCorpus(): CorpusInput[];
export function count(
  inputs: readonly CorpusInput[],
  actionOf: (input: CorpusInput) => "allow" | "ask" | "deny",
  nameOf?: (input: CorpusInput) => string,
): Record<string, Counts>;
export interface Goals {
  readonly recall: number;
  readonly refused: number;
  readonly asked: number;
}
export const GOALS: Goals;
export const HELD_GOALS: Goals;
export function setOf(input: CorpusInput): string;
