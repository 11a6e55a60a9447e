import { INTRUSION_RULES } from "./rules/intrusion.js";
import { MACHINE_RULES } from "./rules/machine.js";
import type { CommandRule } from "./rules/rule.js";

export type { CommandRule };

/** Every rule of the command layer. Other tables say when a rule applies; these say what it means. */
export const RULES = { ...MACHINE_RULES, ...INTRUSION_RULES };

export type RuleId = keyof typeof RULES;

/** All keys under which a person may have approved this rule, the canonical one first. */
export function approvalKeys(id: string): readonly string[] {
  const found: CommandRule | undefined = RULES[id as RuleId];
  return [found?.key ?? id.replaceAll("-", " "), ...(found?.legacy ?? [])];
}
