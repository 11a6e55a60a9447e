import { errnoNumber, SYSCALLS, type Syscall } from "../../abi/index.js";
import type { VerdictAction } from "../../nouns/verdict.js";
import { callEffects } from "../call-effects.js";
import { type CallEffect, DEFAULT_COVERS, type Effect } from "../effects.js";
import { allCases, type Cases } from "../match/cases.js";
import type { CallSubscription, ConstantRule, ConstantTest, Subscription } from "../policy.js";
import type { ActionKey } from "./action.js";
import type { PolicyRule, RuleInput } from "./rule.js";
import { RuleSet } from "./rule-set.js";
import type { RuleTarget } from "./rule-target.js";

/** How to decide one system call. */
export interface CallPlan {
  readonly call: Syscall;
  readonly effects: readonly PlannedEffect[];
  /** For calls without an effect in the table: the rules that name them. */
  readonly whole: PlannedEffect | undefined;
}

export interface PlannedEffect {
  readonly effect: CallEffect | undefined;
  readonly rules: RuleSet;
  /** Without a matching rule, the policy's default applies. */
  readonly covered: boolean;
}

/** The action of a rule's verdict. */
const ACTION_OF: Readonly<Record<ActionKey, VerdictAction>> = {
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

/** Rules with the same target that fit the same calls. */
interface Group {
  readonly first: PolicyRule;
  readonly rules: PolicyRule[];
}

/** Which rules concern which system call. Calls with the same rules share one set. */
export function planCalls(rules: readonly PolicyRule[], fallback: VerdictAction): Map<number, CallPlan> {
  const groups = groupsOf(rules);
  const byCall = indexed(groups, ({ calls }) => calls);
  const byEffect = indexed(groups, ({ effects }) => effects);
  const sets = new Map<string, RuleSet>();
  const setOf = (call: Syscall, deed?: CallEffect): RuleSet => {
    const named = byCall.get(call.nr) ?? [];
    const about = deed?.does.flatMap((effect) => byEffect.get(effect) ?? []) ?? [];
    const members = [...new Set([...named, ...about])]
      .filter((i) => groups[i]!.first.fits(call))
      .sort((a, b) => a - b);
    const key = members.join(" ");
    const known = sets.get(key) ?? new RuleSet(members.flatMap((i) => groups[i]!.rules));
    sets.set(key, known);
    return known;
  };
  const plans = new Map<number, CallPlan>();
  for (const call of SYSCALLS) {
    const whole = setOf(call);
    const effects = callEffects(call.nr)
      .map((deed) => ({
        effect: deed,
        rules: setOf(call, deed),
        covered: fallback !== "allow" && deed.does.some((effect) => COVERED.has(effect)),
      }))
      .filter(({ rules, covered }) => rules.all.length > 0 || covered);
    if (effects.length > 0 || whole.all.length > 0)
      plans.set(call.nr, {
        call,
        effects,
        whole: whole.all.length > 0 ? { effect: undefined, rules: whole, covered: false } : undefined,
      });
  }
  return plans;
}

/** The groups that name each of these. */
function indexed<K>(groups: readonly Group[], keysOf: (target: RuleTarget) => Iterable<K>): Map<K, number[]> {
  const found = new Map<K, number[]>();
  for (const [i, { first }] of groups.entries())
    for (const key of keysOf(first.target)) {
      const known = found.get(key);
      if (known) known.push(i);
      else found.set(key, [i]);
    }
  return found;
}

function groupsOf(rules: readonly PolicyRule[]): Group[] {
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

/** The subscription for these plans, and the rules that the kernel's filter decides alone. */
export function subscriptionOf(plans: ReadonlyMap<number, CallPlan>, fallback: VerdictAction): Subscription {
  const calls = new Map<number, CallSubscription>();
  const constants: ConstantRule[] = [];
  for (const [nr, plan] of plans) {
    const parts = [...plan.effects, ...(plan.whole ? [plan.whole] : [])];
    const rules = [...new Set(parts.flatMap((part) => part.rules.all))].sort((a, b) => a.order - b.order);
    const { decided, constants: fixed } = inFilter(plan.call, rules);
    constants.push(...fixed);
    const covered = parts.some((part) => part.covered);
    if (decided === rules.length && !covered) continue;
    const actions = new Set<VerdictAction>(["allow", ...rules.map(({ key }) => ACTION_OF[key])]);
    if (covered) actions.add(fallback);
    const when = parts.every(({ effect }) => effect?.when) && parts.flatMap(({ effect }) => effect!.when!);
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
 * The first rules of a call, as far as they refuse it on constant register values. The filter decides before
 * any rule, and without a record. So no other rule may come first, except one that also refuses in the
 * filter. Rules on effects stay outside, so that their refusals are recorded.
 */
function inFilter(
  call: Syscall,
  rules: readonly PolicyRule[],
): { decided: number; constants: ConstantRule[] } {
  const constants: ConstantRule[] = [];
  const passed: PolicyRule[] = [];
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

function constantRule(call: Syscall, rule: PolicyRule, tests: readonly ConstantTest[]): ConstantRule {
  const { errno, reason } = rule.answer(undefined as unknown as RuleInput);
  return {
    id: rule.id,
    nr: call.nr,
    tests,
    action: rule.key as "deny" | "kill",
    errno: errnoNumber(String(errno ?? "EACCES"))!,
    ...(reason !== undefined && { reason }),
  };
}

function casesOf(call: Syscall, rule: PolicyRule): Cases | undefined {
  if (
    (rule.key !== "deny" && rule.key !== "kill") ||
    rule.target.effects.size > 0 ||
    rule.counters.length > 0
  )
    return undefined;
  return allCases(rule.conditions.map((condition) => condition.constants?.(call)));
}
