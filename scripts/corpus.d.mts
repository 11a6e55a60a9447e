export interface CorpusInput {
  readonly id: string;
  readonly kind: import("../src/guard/subject.js").Kind;
  readonly hostile: boolean;
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
): Record<string, Counts>;
export const GOALS: { readonly recall: number; readonly refused: number; readonly asked: number };
