import type { Verdict } from "../../verdict.js";
import { nameOfAddress } from "./conditions.js";
import type { PlannedDeed } from "./plan.js";
import type { Rule, Sight } from "./rule.js";
import { isAbout } from "./target.js";
import { type Ruling, stricter, type Turn } from "./yaml-policy.js";

/** Why a policy decides an event as it does. */
export interface Explanation {
  /** Undefined when the policy has nothing to say. */
  readonly verdict: Verdict | undefined;
  /** The rule that decided, "default", or undefined when none did. */
  readonly rule: string | undefined;
  readonly deeds: readonly DeedExplanation[];
}

/** One thing that the call does, and the rules in order as far as they were asked. */
export interface DeedExplanation {
  /** Effects, or nothing when the call as a whole was judged. */
  readonly does: readonly string[];
  readonly on: string;
  readonly rule: string | undefined;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly rule: string;
  /** file:line:column */
  readonly at: string;
  readonly matched: boolean;
  /** The first condition that did not hold, and what was different. */
  readonly because: string;
}

/** Asks every rule in order, without any of the short cuts that deciding takes. */
export function explain(
  sights: readonly { part: PlannedDeed; sight: Sight }[],
  rules: readonly Rule[],
  fallback: Ruling,
  turn: Turn,
): Explanation {
  let settled: Ruling | undefined;
  const deeds = sights.map(({ part, sight }) => {
    const { steps, ruling } = ask(part, sight, rules, fallback, turn);
    settled = stricter(settled, ruling);
    const does = part.deed?.does ?? [];
    return { does, on: nameOf(sight), rule: ruling?.verdict.rule, steps };
  });
  const verdict = (settled as Ruling | undefined)?.verdict ?? turn.watched;
  return { verdict, rule: verdict?.rule, deeds };
}

function ask(part: PlannedDeed, sight: Sight, rules: readonly Rule[], fallback: Ruling, turn: Turn) {
  const steps: Step[] = [];
  for (const rule of rules) {
    const because = whyNot(part, rule, sight, turn);
    const matched = because === undefined;
    steps.push({ rule: rule.id, at: rule.at, matched, because: because ?? "every condition holds" });
    if (!matched) continue;
    if (rule.key !== "watch") return { steps, ruling: { verdict: rule.answer(sight), order: rule.order } };
    turn.watched ??= rule.answer(sight);
  }
  return { steps, ruling: part.covered ? fallback : undefined };
}

function whyNot(part: PlannedDeed, rule: Rule, sight: Sight, turn: Turn): string | undefined {
  const concerns = part.deed ? isAbout(rule.target, part.deed) : rule.target.calls.has(sight.call.nr);
  if (!concerns) return `${rule.key}: it is about ${rule.target.names.join(", ")}`;
  if (!rule.fits(sight.call)) return `${rule.key}: ${sight.call.name} cannot be answered so`;
  const failing = rule.conditions.find((condition) => !condition.holds(sight));
  if (failing) return `${failing.key}: ${failing.tell(sight)}`;
  if (!turn.counts(rule)) return `${rule.counters.map(({ key }) => key).join(", ")}: not this time`;
  return undefined;
}

function nameOf({ subject, call }: Sight): string {
  if (subject.path === null) return "a file that cannot be named";
  if (subject.path !== undefined) return subject.path;
  return subject.address ? nameOfAddress(subject.address) : call.name;
}
