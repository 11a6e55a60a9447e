import type { Syscall } from "../../abi/index.js";
import { READS_MEMORY } from "../deed-tests.js";
import type { CallPlan, PlannedDeed } from "./plan.js";
import { type Rule, restricts } from "./rule.js";

/** Conditions on what a call's arguments point at. */
const ON_MEMORY = new Set(["path", "address", "argv", "argv_matches", "env"]);

/**
 * Whether the call could be refused if only its memory were another, and so whether it may happen as the program made it:
 * the kernel reads that memory again (abi/reread.ts).
 */
export function restsOnMemory({ call, deeds, whole }: CallPlan, refusesElse: boolean): boolean {
  const parts = whole ? [...deeds, whole] : deeds;
  return parts.some((part) => partRests(call, part, refusesElse));
}

function partRests(call: Syscall, { deed, rules, covered }: PlannedDeed, refusesElse: boolean): boolean {
  const dependsOnDeed = deed?.holds !== undefined && READS_MEMORY.has(deed.holds);
  let looked = dependsOnDeed;
  for (const rule of rules.all) {
    looked ||= looksAtMemory(call, rule);
    if (restricts(rule) && looked) return true;
    if (rule.conditions.length === 0 && rule.counters.length === 0 && rule.key !== "watch") return false;
  }
  return covered && refusesElse && looked;
}

function looksAtMemory(call: Syscall, { conditions }: Rule): boolean {
  return conditions.some(
    ({ key, constants }) => ON_MEMORY.has(key) || (key === "where" && constants?.(call) === undefined),
  );
}
