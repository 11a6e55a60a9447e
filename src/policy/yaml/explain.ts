import type { Verdict } from "../../nouns/verdict.js";
import type { PlannedEffect } from "./call-plan.js";
import { nameOfAddress } from "./conditions.js";
import type { PolicyRule, RuleInput } from "./rule.js";
import { isAbout } from "./rule-target.js";
import { type MatchState, type Ruling, stricter } from "./yaml-policy.js";

/** Why a policy decides an event as it does. */
export interface Explanation {
  /** Undefined when the policy does not object. */
  readonly verdict: Verdict | undefined;
  /** The rule that decided, "default", or undefined when none did. */
  readonly rule: string | undefined;
  readonly deeds: readonly EffectExplanation[];
}

/** One effect of the call, and the rules in order, as far as they were tried. */
interface EffectExplanation {
  /** Effects; empty when the call as a whole was judged. */
  readonly does: readonly string[];
  readonly on: string;
  readonly rule: string | undefined;
  readonly steps: readonly ExplanationStep[];
}

interface ExplanationStep {
  readonly rule: string;
  /** file:line:column */
  readonly at: string;
  readonly matched: boolean;
  /** The first condition that did not hold, and the actual value. */
  readonly because: string;
}

/** Tries every rule in order, without the shortcuts of deciding. */
export function explain(
  inputs: readonly { part: PlannedEffect; sight: RuleInput }[],
  rules: readonly PolicyRule[],
  fallback: Ruling,
  state: MatchState,
): Explanation {
  let settled: Ruling | undefined;
  const effects = inputs.map(({ part, sight }) => {
    const { steps, ruling } = ask(part, sight, rules, fallback, state);
    settled = stricter(settled, ruling);
    const does = part.effect?.does ?? [];
    return { does, on: nameOf(sight), rule: ruling?.verdict.rule, steps };
  });
  const verdict = (settled as Ruling | undefined)?.verdict ?? state.watched;
  return { verdict, rule: verdict?.rule, deeds: effects };
}

function ask(
  part: PlannedEffect,
  input: RuleInput,
  rules: readonly PolicyRule[],
  fallback: Ruling,
  state: MatchState,
) {
  const steps: ExplanationStep[] = [];
  for (const rule of rules) {
    const because = whyNot(part, rule, input, state);
    const matched = because === undefined;
    steps.push({ rule: rule.id, at: rule.at, matched, because: because ?? "every condition holds" });
    if (!matched) continue;
    if (rule.key !== "watch") return { steps, ruling: { verdict: rule.answer(input), order: rule.order } };
    state.watched ??= rule.answer(input);
  }
  return { steps, ruling: part.covered ? fallback : undefined };
}

function whyNot(
  part: PlannedEffect,
  rule: PolicyRule,
  input: RuleInput,
  state: MatchState,
): string | undefined {
  const concerns = part.effect ? isAbout(rule.target, part.effect) : rule.target.calls.has(input.call.nr);
  if (!concerns) return `${rule.key}: it is about ${rule.target.names.join(", ")}`;
  if (!rule.fits(input.call)) return `${rule.key}: not possible for ${input.call.name}`;
  const failing = rule.conditions.find((condition) => !condition.holds(input));
  if (failing) return `${failing.key}: ${failing.tell(input)}`;
  if (!state.counts(rule)) return `${rule.counters.map(({ key }) => key).join(", ")}: not this time`;
  return undefined;
}

function nameOf({ subject, call }: RuleInput): string {
  if (subject.path === null) return "a file that cannot be named";
  if (subject.path !== undefined) return subject.path;
  return subject.address ? nameOfAddress(subject.address) : call.name;
}
