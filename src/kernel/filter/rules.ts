import { type FilterAction, returnValue } from "./action.js";
import { type ArgumentCondition, type ArgumentConditions, conditionsOf, isSame } from "./conditions.js";
import type { DecisionGraph, FilterDecision } from "./decision.js";
import { decideMasked } from "./masked.js";
import { type ArgumentRegister, Partition } from "./partition.js";
import { IP_HIGH, IP_LOW } from "./seccomp-data.js";
import type { CallTreatment } from "./spec.js";

interface LiveRule {
  conditions: ArgumentConditions;
  action: FilterAction;
}

/**
 * The decision for one syscall: the first matching rule, else the fallback.
 *
 * Built from the last rule to the first. Neighbouring rules about the same argument become one partition of
 * its values and so one binary search: a list of a hundred ioctl requests is not a chain of a hundred
 * comparisons.
 */
export function decideCall(graph: DecisionGraph, call: CallTreatment): FilterDecision {
  const rules = liveRules(call);
  let decision = decideOtherwise(graph, call);
  for (let at = rules.length - 1; at >= 0; ) {
    const { conditions, action } = rules[at]!;
    const register = searchedRegister(rules, at);
    if (!register) {
      decision = decideConditions(graph, conditions, graph.return(returnValue(action)), decision);
      at--;
      continue;
    }
    let partition = Partition.uniform(register, decision);
    for (; at >= 0; at--) {
      const joined = join(graph, partition, register, rules[at]!);
      if (!joined) break;
      partition = joined;
    }
    decision = partition.search(graph);
  }
  return decision;
}

/**
 * Decides by the address of the call, where a gate is set. The kernel reports the address after the syscall
 * instruction.
 */
function decideOtherwise(graph: DecisionGraph, { otherwise, gate }: CallTreatment): FilterDecision {
  const outside = graph.return(returnValue(otherwise));
  if (!gate) return outside;
  const allowed = graph.return(returnValue({ do: "allow" }));
  const below = graph.branch(IP_LOW, "ge", gate.to + 1, outside, allowed);
  return graph.branch(IP_HIGH, "eq", 0, graph.branch(IP_LOW, "ge", gate.from, below, outside), outside);
}

function liveRules({ rules }: CallTreatment): LiveRule[] {
  const live: LiveRule[] = [];
  for (const { tests, action } of rules) {
    const conditions = conditionsOf(tests);
    if (conditions) live.push({ conditions, action });
  }
  return live;
}

/** The argument tested by the longest run of rules that ends with this one. */
function searchedRegister(rules: readonly LiveRule[], at: number): ArgumentRegister | undefined {
  const runOf = (register: ArgumentRegister): number => {
    let first = at;
    while (first >= 0 && conditionOn(rules[first]!.conditions, register)) first--;
    return at - first;
  };
  let best: { register: ArgumentRegister; run: number } | undefined;
  for (const register of rules[at]!.conditions.byValue) {
    const run = runOf(register);
    if (!best || run > best.run) best = { register, run };
  }
  return best?.register;
}

/** The partition with a rule put in front of it, or undefined if the rule does not fit. */
function join(
  graph: DecisionGraph,
  partition: Partition,
  register: ArgumentRegister,
  { conditions, action }: LiveRule,
): Partition | undefined {
  const condition = conditionOn(conditions, register);
  if (!condition) return undefined;
  const others: ArgumentConditions = {
    byValue: conditions.byValue.filter((other) => other !== condition),
    masked: conditions.masked,
  };
  const hasOthers = others.byValue.length + others.masked.length > 0;
  // The other tests are repeated for each decision that they may fall back to. Without this bound, rules that
  // overlap in several arguments would multiply.
  if (hasOthers && partition.decisionsIn(condition.set).size > 1) return undefined;
  const matched = graph.return(returnValue(action));
  return partition.paint(condition.set, (before) => decideConditions(graph, others, matched, before));
}

function conditionOn(
  { byValue }: ArgumentConditions,
  register: ArgumentRegister,
): ArgumentCondition | undefined {
  return byValue.find((condition) => isSame(condition, register));
}

function decideConditions(
  graph: DecisionGraph,
  { byValue, masked }: ArgumentConditions,
  yes: FilterDecision,
  no: FilterDecision,
): FilterDecision {
  const afterMasked = masked.reduceRight((rest, test) => decideMasked(graph, test, rest, no), yes);
  return byValue.reduceRight(
    (rest, condition) =>
      Partition.uniform(condition, no)
        .paint(condition.set, () => rest)
        .search(graph),
    afterMasked,
  );
}
