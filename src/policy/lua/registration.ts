import { suggest } from "../../abi/index.js";
import { HermesError } from "../../nouns/errors.js";
import { VERDICT_ACTIONS, type VerdictAction } from "../../nouns/verdict.js";
import { callsNamed, type LooseRule } from "../define.js";
import type { CallSubscription } from "../policy.js";

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

export function namesOf(value: unknown, what = "hermes.on"): string[] {
  const names = Array.isArray(value) ? value : [value];
  if (names.length === 0 || names.some((name) => typeof name !== "string"))
    throw new TypeError(
      `${what} takes the name of a system call, a %class, "*", a function such as "libc!getenv", or a list of them`,
    );
  return names as string[];
}

export function callsOf(name: string) {
  return withoutPrefix(() => callsNamed("lua", name));
}

/** The reporter adds the line; the policy's name would be redundant. */
export function withoutPrefix<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof HermesError) throw new Error(error.message.replace(/^policy lua: /, ""));
    throw error;
  }
}

/** A call that is wanted twice stops for either: only if both name arguments, those count. */
export function whenBoth(
  known: CallSubscription | undefined,
  when: CallSubscription["when"],
): Pick<CallSubscription, "when"> {
  if (when === undefined || (known && known.when === undefined)) return {};
  return { when: [...(known?.when ?? []), ...when] };
}
