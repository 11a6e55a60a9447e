import { ON_ONE_FILE, UNSETTLED } from "../deeds.js";
import type { Deed } from "../effects.js";
import type { Settling } from "../policy.js";
import type { ActionKey } from "./action.js";
import type { CallPlan } from "./plan.js";
import type { Rule } from "./rule.js";

/** Conditions that look at the path and the flags, and at nothing else. */
const PLAIN = new Set(["path", "flags"]);

/** What the answer to a call depends on: undefined when some rule looks at more than path and flags. */
export function settlingOf({ call, deeds, whole }: CallPlan): Settling | undefined {
  if (!ON_ONE_FILE.has(call.name)) return undefined;
  const parts = whole ? [...deeds, whole] : deeds;
  const rules = parts.flatMap((part) => part.rules.all);
  const others = rules.filter((rule) => !isPlain(rule));
  if (!deeds.every(({ deed }) => isOnFile(deed!)) || !others.every(isOnSomeFiles)) return undefined;
  const globs = rules.flatMap(({ paths }) => (paths ? [...paths.included, ...paths.excepted] : []));
  const except = others.flatMap(({ paths }) => paths!.included);
  return {
    patterns: globs.map(({ text }) => text),
    except: [...UNSETTLED, ...except.map(({ text }) => text)],
  };
}

const REFUSING: ReadonlySet<ActionKey> = new Set(["allow", "deny", "kill", "ask"]);

/** Whether its rules can only allow or refuse the call, and count nothing. */
export function isToldOnce({ deeds, whole }: CallPlan): boolean {
  const rules = (whole ? [...deeds, whole] : deeds).flatMap((part) => part.rules.all);
  return rules.every(({ key, counters }) => REFUSING.has(key) && counters.length === 0);
}

function isOnFile({ on, subtree }: Deed): boolean {
  return (on.kind === "path" || on.kind === "fd") && !subtree;
}

/** What else it looks at matters for these files alone: nothing stands for them. */
function isOnSomeFiles({ paths, counters }: Rule): boolean {
  return counters.length === 0 && paths !== undefined && paths.included.length > 0;
}

function isPlain({ conditions, counters }: Rule): boolean {
  return counters.length === 0 && conditions.every(({ key }) => PLAIN.has(key));
}
