import { errnoNumber, SYSCALLS, type Syscall } from "../../abi/index.js";
import type { Action } from "../../verdict.js";
import { deedsOf } from "../deeds.js";
import { DEFAULT_COVERS, type Deed, type Effect } from "../effects.js";
import { allCases, type Cases } from "../match/cases.js";
import type { ConstantRule, ConstantTest, Interest, Subscription } from "../policy.js";
import type { ActionKey } from "./action.js";
import type { Rule, Sight } from "./rule.js";
import { RuleSet } from "./rule-set.js";
import { isAbout } from "./target.js";

/** What is to be done about one system call. */
export interface CallPlan {
  readonly call: Syscall;
  readonly deeds: readonly PlannedDeed[];
  /** For calls that do nothing the table knows: the rules that name them. */
  readonly whole: PlannedDeed | undefined;
}

export interface PlannedDeed {
  readonly deed: Deed | undefined;
  readonly rules: RuleSet;
  /** Where no rule matches, the policy's default holds. */
  readonly covered: boolean;
}

/** The action that a rule's answer has. */
const ACTION_OF: Readonly<Record<ActionKey, Action>> = {
  allow: "allow",
  watch: "allow",
  deny: "deny",
  kill: "kill",
  ask: "ask",
  redirect: "modify",
  modify: "modify",
  emulate: "emulate",
  fault: "fault",
};

const COVERED: ReadonlySet<Effect> = new Set(DEFAULT_COVERS);

/** Rules about the same things, that fit the same calls. */
interface Group {
  readonly first: Rule;
  readonly rules: Rule[];
}

/** Which rules concern which system call. Calls that the same rules concern share one set of them. */
export function planCalls(rules: readonly Rule[], fallback: Action): Map<number, CallPlan> {
  const groups = groupsOf(rules);
  const sets = new Map<string, RuleSet>();
  const setOf = (call: Syscall, concerns: (rule: Rule) => boolean): RuleSet => {
    const members = groups.flatMap(({ first }, i) => (concerns(first) && first.fits(call) ? [i] : []));
    const key = members.join(" ");
    const known = sets.get(key) ?? new RuleSet(members.flatMap((i) => groups[i]!.rules));
    sets.set(key, known);
    return known;
  };
  const plans = new Map<number, CallPlan>();
  for (const call of SYSCALLS) {
    const whole = setOf(call, (rule) => rule.target.calls.has(call.nr));
    const deeds = deedsOf(call.nr)
      .map((deed) => ({
        deed,
        rules: setOf(call, (rule) => isAbout(rule.target, deed)),
        covered: fallback !== "allow" && deed.does.some((effect) => COVERED.has(effect)),
      }))
      .filter(({ rules, covered }) => rules.all.length > 0 || covered);
    if (deeds.length > 0 || whole.all.length > 0)
      plans.set(call.nr, {
        call,
        deeds,
        whole: whole.all.length > 0 ? { deed: undefined, rules: whole, covered: false } : undefined,
      });
  }
  return plans;
}

function groupsOf(rules: readonly Rule[]): Group[] {
  const byTarget = new Map<string, Group[]>();
  const groups: Group[] = [];
  for (const rule of rules) {
    const key = `${[...rule.target.effects].join(" ")}|${[...rule.target.calls].join(" ")}`;
    const same = byTarget.get(key) ?? [];
    byTarget.set(key, same);
    const group = same.find(({ first }) => first.fits === rule.fits);
    if (group) group.rules.push(rule);
    else {
      const fresh = { first: rule, rules: [rule] };
      same.push(fresh);
      groups.push(fresh);
    }
  }
  return groups;
}

/** What the plans need to see, and what the kernel's filter decides alone. */
export function subscriptionOf(plans: ReadonlyMap<number, CallPlan>, fallback: Action): Subscription {
  const calls = new Map<number, Interest>();
  const constants: ConstantRule[] = [];
  for (const [nr, plan] of plans) {
    const parts = [...plan.deeds, ...(plan.whole ? [plan.whole] : [])];
    const rules = [...new Set(parts.flatMap((part) => part.rules.all))].sort((a, b) => a.order - b.order);
    const { decided, constants: fixed } = inFilter(plan.call, rules);
    constants.push(...fixed);
    const covered = parts.some((part) => part.covered);
    if (decided === rules.length && !covered) continue;
    const actions = new Set<Action>(["allow", ...rules.map(({ key }) => ACTION_OF[key])]);
    if (covered) actions.add(fallback);
    const when = parts.every(({ deed }) => deed?.when) && parts.flatMap(({ deed }) => deed!.when!);
    const inside = rules.some((rule) => rule.conditions.some((condition) => condition.inside));
    const named = rules.some(({ target }) => target.calls.has(nr) && !target.names.includes("*"));
    calls.set(nr, {
      entry: true,
      returns: false,
      actions,
      ...(when && { when }),
      ...(named && { named }),
      ...(inside && { inside }),
    });
  }
  return { calls, constants };
}

/**
 * The first rules of a call, as far as they refuse it on constant register values. What the filter decides it decides
 * before any other rule is asked, and nobody hears of it: so no other rule may come first, but those that refuse it
 * likewise; and rules on effects stay where they can be recorded.
 */
function inFilter(call: Syscall, rules: readonly Rule[]): { decided: number; constants: ConstantRule[] } {
  const constants: ConstantRule[] = [];
  const passed: Rule[] = [];
  let decided = 0;
  for (const rule of rules) {
    const cases = casesOf(call, rule);
    if (!cases && rule.target.effects.size > 0 && rule.counters.length === 0) {
      passed.push(rule);
      continue;
    }
    if (!cases || (constants[0] && constants[0].action !== rule.key)) break;
    if (passed.some(({ key }) => key !== rule.key)) break;
    decided++;
    constants.push(...cases.map((tests) => constantRule(call, rule, tests)));
  }
  return { decided, constants };
}

function constantRule(call: Syscall, rule: Rule, tests: readonly ConstantTest[]): ConstantRule {
  const { errno, reason } = rule.answer(undefined as unknown as Sight);
  return {
    id: rule.id,
    nr: call.nr,
    tests,
    action: rule.key as "deny" | "kill",
    errno: errnoNumber(String(errno ?? "EACCES"))!,
    ...(reason !== undefined && { reason }),
  };
}

function casesOf(call: Syscall, rule: Rule): Cases | undefined {
  if (
    (rule.key !== "deny" && rule.key !== "kill") ||
    rule.target.effects.size > 0 ||
    rule.counters.length > 0
  )
    return undefined;
  return allCases(rule.conditions.map((condition) => condition.constants?.(call)));
}
