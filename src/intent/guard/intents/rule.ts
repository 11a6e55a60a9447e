import type { Action } from "../finding.js";

/** One thing that a text can want of the agent that reads it. */
export interface IntentRule {
  readonly rule: string;
  readonly action: Exclude<Action, "allow">;
  readonly reason: string;
  readonly pattern: RegExp;
  /** Makes a match innocent; tested on the match and a little of the rest of its line. */
  readonly unless?: RegExp;
  /** Makes a match innocent when it stands before it; tested on a little of the line before the match. */
  readonly unlessAfter?: RegExp;
  /** Innocent in fenced blocks and backticks: documentation shows it there. */
  readonly notInCode?: true;
  /** Means the same as an order, a description or a quotation: no context excuses it. */
  readonly always?: true;
}

const BLANK = "[\\s,:;\"'*_`-]{1,4}";
/** A word and the separator after it, within one sentence. There is only one way to split a text into these. */
const WORD = "\\S{0,47}[^\\s.!?;,:\"'*_`-][,:;\"'*_`-]{0,2}\\s[\\s\"'*_`-]{0,3}";

/**
 * Patterns in a small notation: a blank is white space or light punctuation, `~3` up to three words between. All
 * repetitions are bounded, so no text can make them slow.
 */
export function phrase(notation: string): RegExp {
  const source = notation
    .trim()
    .replace(/\s*~(\d)\s*/g, (_, count: string) => `@${count}`)
    .replace(/ +/g, BLANK)
    .replace(/@(\d)/g, (_, count: string) => `${BLANK}(?:${WORD}){0,${count}}?`);
  return new RegExp(`(?<![a-z0-9])(?:${source})`, "g");
}
