import type { RuleId } from "../rules.js";

/** A rule, and the command lines that it is about (see pattern.ts for how they are written). */
export type Row = readonly [rule: RuleId, ...patterns: string[]];
