import type { Action } from "../finding.js";

/** One thing that text can want of the agent that reads it. */
export interface IntentRule {
  readonly rule: string;
  readonly action: Exclude<Action, "allow">;
  readonly reason: string;
  readonly pattern: RegExp;
  /** Makes a match innocent; tested on the match and a little of what follows on its line. */
  readonly unless?: RegExp;
  /** Says the same whether commanded, described or quoted: no context excuses it. */
  readonly always?: true;
}

/**
 * Patterns in a small notation: a blank is white space or light punctuation, `~3` up to three words. All repetitions
 * are bounded, so that no text can make them slow.
 */
export function phrase(notation: string): RegExp {
  const source = notation
    .trim()
    .replace(/\s*~(\d)\s*/g, (_, count: string) => `@${count}`)
    .replace(/ +/g, "[\\s,:;\"'*_`-]{1,4}")
    .replace(
      /@(\d)/g,
      (_, count: string) => `[\\s,:"'*_\`-]{1,4}(?:[^\\s.!?;]{1,32}[\\s,:"'*_\`-]{1,4}){0,${count}}?`,
    );
  return new RegExp(`(?<![a-z0-9])(?:${source})`, "g");
}
