import type { Action } from "../../finding.js";

export interface CommandRule {
  /** The canonical approval key, as people read it and configuration stores it; default: the rule's name. */
  readonly key?: string;
  /** Keys under which older configurations store the same approval. */
  readonly legacy?: readonly string[];
  /** Its effect in one word, for the explanation. */
  readonly effect: string;
  readonly standard: Action;
  readonly strict?: Action;
  readonly reason: string;
  readonly instead?: string;
  /** Where the strict profile would refuse that. */
  readonly insteadInStrict?: string;
}

export const rules = <T extends Readonly<Record<string, CommandRule>>>(table: T): T => table;
