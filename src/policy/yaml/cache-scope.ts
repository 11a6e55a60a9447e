import { NEVER_CACHED, ON_ONE_FILE } from "../call-effects.js";
import type { CallEffect } from "../effects.js";
import type { CacheScope } from "../policy.js";
import type { ActionKey } from "./action.js";
import type { CallPlan } from "./call-plan.js";
import type { PolicyRule } from "./rule.js";

/** Conditions that read only the path and the flags. */
const PLAIN = new Set(["path", "flags"]);

/** What the verdict on a call depends on: undefined when some rule reads more than path and flags. */
export function cacheScopeOf({ call, effects, whole }: CallPlan): CacheScope | undefined {
  if (!ON_ONE_FILE.has(call.name)) return undefined;
  const parts = whole ? [...effects, whole] : effects;
  const rules = parts.flatMap((part) => part.rules.all);
  const others = rules.filter((rule) => !isPlain(rule));
  if (!effects.every(({ effect }) => isOnFile(effect!)) || !others.every(isOnSomeFiles)) return undefined;
  const globs = rules.flatMap(({ paths }) => (paths ? [...paths.included, ...paths.excepted] : []));
  const except = others.flatMap(({ paths }) => paths!.included);
  return {
    patterns: globs.map(({ text }) => text),
    except: [...NEVER_CACHED, ...except.map(({ text }) => text)],
  };
}

const REFUSING: ReadonlySet<ActionKey> = new Set(["allow", "deny", "kill", "ask"]);

/** True when its rules can only allow or refuse the call, and count nothing. */
export function cachesMissing({ effects, whole }: CallPlan): boolean {
  const rules = (whole ? [...effects, whole] : effects).flatMap((part) => part.rules.all);
  return rules.every(({ key, counters }) => REFUSING.has(key) && counters.length === 0);
}

/** Conditions on what an exec runs. */
const ON_PROGRAM = new Set(["path", "argv", "argv_matches"]);

/** True when its rules can only allow or refuse the exec, by its file and its words, and count nothing. */
export function cachesExecs(plan: CallPlan): boolean {
  const rules = (plan.whole ? [...plan.effects, plan.whole] : plan.effects).flatMap((part) => part.rules.all);
  return (
    cachesMissing(plan) && rules.every(({ conditions }) => conditions.every(({ key }) => ON_PROGRAM.has(key)))
  );
}

function isOnFile({ on, subtree }: CallEffect): boolean {
  return (on.kind === "path" || on.kind === "fd") && !subtree;
}

/** Its other conditions matter for these files only: verdicts on them are never cached. */
function isOnSomeFiles({ paths, counters }: PolicyRule): boolean {
  return counters.length === 0 && paths !== undefined && paths.included.length > 0;
}

function isPlain({ conditions, counters }: PolicyRule): boolean {
  return counters.length === 0 && conditions.every(({ key }) => PLAIN.has(key));
}
