import type { Action } from "../finding.js";

/** One thing that text can want of the agent that reads it. */
export interface IntentRule {
  readonly rule: string;
  readonly action: Exclude<Action, "allow">;
  readonly reason: string;
  readonly pattern: RegExp;
  /** Makes a match innocent; tested on the match and a little of what follows on its line. */
  readonly unless?: RegExp;
  /** Makes a match innocent where it stands before it; tested on a little of the line so far. */
  readonly unlessAfter?: RegExp;
  /** Innocent between fences and backticks: documentation shows it there. */
  readonly notInCode?: true;
  /** Says the same whether commanded, described or quoted: no context excuses it. */
  readonly always?: true;
}

const BLANK = "[\\s,:;\"'*_`-]{1,4}";
/** A word and what parts it from the next one of its sentence. There is one way to cut a text into these. */
const WORD = "\\S{0,47}[^\\s.!?;,:\"'*_`-][,:;\"'*_`-]{0,2}\\s[\\s\"'*_`-]{0,3}";

/**
 * Patterns in a small notation: a blank is white space or light punctuation, `~3` up to three words between. All repetitions
 * are bounded, so that no text can make them slow.
 */
export function phrase(notation: string): RegExp {
  const source = notation
    .trim()
    .replace(/\s*~(\d)\s*/g, (_, count: string) => `@${count}`)
    .replace(/ +/g, BLANK)
    .replace(/@(\d)/g, (_, count: string) => `${BLANK}(?:${WORD}){0,${count}}?`);
  return new RegExp(`(?<![a-z0-9])(?:${source})`, "g");
}
