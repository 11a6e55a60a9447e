import type { Syscall } from "../../abi/index.js";
import { READS_MEMORY } from "../effect-conditions.js";
import type { CallPlan, PlannedEffect } from "./call-plan.js";
import { type PolicyRule, restricts } from "./rule.js";

/** Conditions on memory that a call's arguments point at. */
const ON_MEMORY = new Set(["path", "address", "argv", "argv_matches", "env"]);

/**
 * True when other memory content could make the policy refuse the call. Then the call must not happen as the
 * program made it, because the kernel reads that memory again (abi/reread.ts).
 */
export function restsOnMemory({ call, effects, whole }: CallPlan, refusesElse: boolean): boolean {
  const parts = whole ? [...effects, whole] : effects;
  return parts.some((part) => partRests(call, part, refusesElse));
}

function partRests(call: Syscall, { effect, rules, covered }: PlannedEffect, refusesElse: boolean): boolean {
  const dependsOnDeed = effect?.holds !== undefined && READS_MEMORY.has(effect.holds);
  let looked = dependsOnDeed;
  for (const rule of rules.all) {
    looked ||= looksAtMemory(call, rule);
    if (restricts(rule) && looked) return true;
    if (rule.conditions.length === 0 && rule.counters.length === 0 && rule.key !== "watch") return false;
  }
  return covered && refusesElse && looked;
}

function looksAtMemory(call: Syscall, { conditions }: PolicyRule): boolean {
  return conditions.some(
    ({ key, constants }) => ON_MEMORY.has(key) || (key === "where" && constants?.(call) === undefined),
  );
}
