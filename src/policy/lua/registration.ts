import { suggest } from "../../abi/index.js";
import { ACTIONS, type Action } from "../../verdict.js";
import type { LooseRule } from "../define.js";

/** `in` is a word of Lua's own, so a list of values says it too: `where = { family = { "AF_INET", "AF_INET6" } }`. */
export function ruleOf(rule: LooseRule): LooseRule {
  const where = Object.entries(rule.where ?? {}).map(([name, test]) => [
    name,
    Array.isArray(test) ? { in: test } : test,
  ]);
  return { ...rule, where: Object.fromEntries(where) };
}

/** The actions that a handler may answer with, as a script names them. */
export function actionsOf(value: unknown): ReadonlySet<Action> | undefined {
  if (value === undefined) return undefined;
  const list = Array.isArray(value) ? value : [value];
  for (const action of list)
    if (!ACTIONS.includes(action as Action)) {
      const near = typeof action === "string" ? suggest(action, ACTIONS) : undefined;
      throw new TypeError(
        `unknown action ${JSON.stringify(action)}${near ? `: did you mean "${near}"?` : ""}`,
      );
    }
  return new Set<Action>(["allow", ...(list as Action[])]);
}
