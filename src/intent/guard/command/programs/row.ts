import type { RuleId } from "../rules.js";

/** A rule, and the command lines that it applies to (pattern.ts explains the notation). */
export type CommandRow = readonly [rule: RuleId, ...patterns: string[]];
