import type { Action } from "../../finding.js";

export interface Rule {
  /** The canonical approval key, what a person reads and configuration remembers, when it is not just the rule's name. */
  readonly key?: string;
  /** Keys under which older configurations remember the same thing. */
  readonly legacy?: readonly string[];
  /** What it would do, in one word, for the explanation. */
  readonly effect: string;
  readonly standard: Action;
  readonly strict?: Action;
  readonly reason: string;
  readonly instead?: string;
}

export const rules = <T extends Readonly<Record<string, Rule>>>(table: T): T => table;
