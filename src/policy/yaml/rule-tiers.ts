import { syscallByNumber } from "../../abi/index.js";
import type { HeldByView, RuleTier, Subscription } from "../policy.js";
import type { CallPlan, PlannedEffect } from "./call-plan.js";
import { isByDescriptor } from "./open-file-rules.js";
import { isHeldByView } from "./read-rules.js";
import type { PolicyRule } from "./rule.js";

export function ruleTiers(
  { rules, subscription }: { readonly rules: readonly PolicyRule[]; readonly subscription: Subscription },
  plans: ReadonlyMap<number, CallPlan>,
  held: HeldByView | undefined,
): RuleTier[] {
  const isHeld = (nr: number, effect: PlannedEffect["effect"]) =>
    held !== undefined && (isHeldByView(nr, effect) || (held.openFiles && isByDescriptor(nr, effect)));
  const tiers = new Map(
    rules.map((rule) => [
      rule,
      { filter: new Set<string>(), view: new Set<string>(), stops: new Set<string>() },
    ]),
  );
  const decided = new Set(subscription.constants.map(({ id, nr }) => `${id} ${nr}`));
  for (const [nr, { effects, whole }] of plans)
    for (const { effect, rules: set } of whole ? [...effects, whole] : effects)
      for (const rule of set.all) {
        const tier = tiers.get(rule);
        const isDecided = decided.has(`${rule.id} ${nr}`);
        const place = isDecided ? "filter" : isHeld(nr, effect) ? "view" : "stops";
        if (place === "filter" || subscription.calls.has(nr)) tier?.[place].add(syscallByNumber(nr)!.name);
      }
  return [...tiers].map(([rule, { filter, view, stops }]) => ({
    rule: rule.id,
    action: rule.key,
    filter: [...filter].sort(),
    view: [...view].filter((call) => !stops.has(call)).sort(),
    stops: [...stops].sort(),
    ...(stops.size > 0 && { why: whyStopped(rule) }),
  }));
}

function whyStopped({ key, conditions, counters, paths }: PolicyRule): string {
  if (key !== "allow" && key !== "deny") return `\`${key}\` needs a decision at the call`;
  if (counters.length > 0) return "it counts calls";
  const other = conditions.find((condition) => condition.key !== "path" && condition.key !== "address");
  if (other) return `it looks at \`${other.key}\``;
  if (paths) return "a name that is made, changed or removed may be a new one";
  return "it looks at what the arguments point to";
}
