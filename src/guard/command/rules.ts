import { INTRUSION_RULES } from "./rules/intrusion.js";
import { MACHINE_RULES } from "./rules/machine.js";
import type { Rule } from "./rules/rule.js";

export type { Rule };

/** Every rule of the command layer. Tables elsewhere say when one applies; here is what it means. */
export const RULES = { ...MACHINE_RULES, ...INTRUSION_RULES };

export type RuleId = keyof typeof RULES;

/** All keys under which an approval of this rule may have been remembered, the canonical one first. */
export function approvalKeys(id: string): readonly string[] {
  const found: Rule | undefined = RULES[id as RuleId];
  return [found?.key ?? id.replaceAll("-", " "), ...(found?.legacy ?? [])];
}
