import { suggest } from "../../abi/index.js";
import { VERDICT_ACTIONS, type VerdictAction } from "../../nouns/verdict.js";
import type { LooseRule } from "../define.js";

/**
 * `in` is a keyword of Lua, so a list of values has the same meaning: `where = { family = { "AF_INET",
 * "AF_INET6" } }`.
 */
export function ruleOf(rule: LooseRule): LooseRule {
  const where = Object.entries(rule.where ?? {}).map(([name, test]) => [
    name,
    Array.isArray(test) ? { in: test } : test,
  ]);
  return { ...rule, where: Object.fromEntries(where) };
}

/** The actions that a handler may return, by a script's names. */
export function actionsOf(value: unknown): ReadonlySet<VerdictAction> | undefined {
  if (value === undefined) return undefined;
  const list = Array.isArray(value) ? value : [value];
  for (const action of list)
    if (!VERDICT_ACTIONS.includes(action as VerdictAction)) {
      const near = typeof action === "string" ? suggest(action, VERDICT_ACTIONS) : undefined;
      throw new TypeError(
        `unknown action ${JSON.stringify(action)}${near ? `: did you mean "${near}"?` : ""}`,
      );
    }
  return new Set<VerdictAction>(["allow", ...(list as VerdictAction[])]);
}
