import type { CallEvent, FunctionEvent, InstructionEvent } from "../../nouns/event.js";
import { isStricter, type Verdict, type VerdictAction } from "../../nouns/verdict.js";
import { callSubjects, effectSubjects, flagBits } from "../match/subject.js";
import type {
  CacheScope,
  FunctionSubscription,
  HeldByView,
  InstructionSubscription,
  IsOwn,
  NotStatic,
  Policy,
  PolicyFence,
  PolicyFloor,
  ReadRules,
  RuleTier,
  Subscription,
} from "../policy.js";
import { cacheScopeOf, cachesExecs, cachesMissing } from "./cache-scope.js";
import { type CallPlan, type PlannedEffect, planCalls, subscriptionOf } from "./call-plan.js";
import { type Explanation, explain } from "./explain.js";
import { rulesFloor } from "./floor.js";
import { type FunctionRule, FunctionRules } from "./function-rule.js";
import type { InstructionRule } from "./instruction-rule.js";
import { InstructionRules } from "./instruction-rules.js";
import { lint } from "./lint.js";
import { staticOpenFiles, withoutOpenFiles } from "./open-file-rules.js";
import { staticReads, withoutReads } from "./read-rules.js";
import { restsOnMemory } from "./reread.js";
import { isChange, type PolicyRule, type RuleInput } from "./rule.js";
import { ruleTiers } from "./rule-tiers.js";

export type Default = "allow" | "deny" | "ask";

interface PolicyParts {
  readonly name: string;
  readonly version: string;
  readonly file: string;
  readonly files: readonly string[];
  readonly description?: string;
  readonly requires: readonly string[];
  readonly usesWorkspace: boolean;
  readonly fence?: PolicyFence;
  readonly fallback: Default;
  readonly rules: readonly PolicyRule[];
  /** Rules on functions inside the program. */
  readonly functions?: readonly FunctionRule[];
  readonly instructions?: readonly InstructionRule[];
}

/** A policy's verdict on one effect. */
export interface Ruling {
  readonly verdict: Verdict;
  readonly order: number;
}

const NO_RULE = "no rule allows this, and the policy's default is to refuse";
const NO_RULE_ASK = "no rule covers this, and the policy's default is to ask";

/**
 * A policy made of rules. Each effect of a call gets the verdict of the first matching rule; the strictest
 * verdict wins.
 */
export class YamlPolicy implements Policy {
  readonly name: string;
  readonly version: string;
  readonly file: string;
  readonly files: readonly string[];
  readonly description: string | undefined;
  /** Protections that the run requires: the starter of the run checks them. */
  readonly requires: readonly string[];
  readonly changing: readonly string[];
  readonly usesWorkspace: boolean;
  readonly fence?: PolicyFence;
  readonly floor: PolicyFloor;
  readonly subscription: Subscription;
  readonly rules: readonly PolicyRule[];
  readonly default: Default;
  readonly #parts: PolicyParts;
  readonly #plans: ReadonlyMap<number, CallPlan>;
  readonly #fallback: Ruling;
  readonly #functions: FunctionRules;
  readonly #instructions: InstructionRules;

  /** `whole`: the same policy with all its stops. A view of the files holds some of its rules. */
  constructor(parts: PolicyParts, whole?: { readonly policy: YamlPolicy; readonly held: HeldByView }) {
    this.#parts = parts;
    this.name = parts.name;
    this.version = parts.version;
    this.file = parts.file;
    this.files = parts.files;
    this.description = parts.description;
    this.requires = parts.requires;
    this.changing = [...parts.rules, ...(parts.functions ?? []), ...(parts.instructions ?? [])]
      .filter(isChange)
      .map(({ id }) => id);
    this.usesWorkspace = parts.usesWorkspace;
    if (parts.fence) this.fence = parts.fence;
    this.rules = parts.rules;
    this.default = parts.fallback;
    this.floor = rulesFloor(parts.rules, parts.fallback);
    this.#plans = whole ? whole.policy.#plans : planCalls(parts.rules, parts.fallback);
    this.#functions = new FunctionRules(parts.functions ?? []);
    this.#instructions = new InstructionRules(parts.instructions ?? []);
    const functions = this.#functions.subscriptions;
    const instructions = this.#instructions.subscriptions;
    const calls = subscriptionOf(this.#plans, parts.fallback);
    this.subscription = {
      ...(whole ? withoutHeld(calls, whole.held) : calls),
      ...(functions.length > 0 && { functions }),
      ...(instructions.length > 0 && { instructions }),
    };
    this.#fallback = { verdict: fallbackVerdict(parts.fallback), order: Number.POSITIVE_INFINITY };
  }

  decide(event: CallEvent): Verdict | undefined {
    const plan = this.#plans.get(event.nr);
    if (!plan) return undefined;
    const state = new MatchState(event, false);
    let strictest: Ruling | undefined;
    eachRuleInput(plan, event, (part, input) => {
      strictest = stricter(strictest, this.#rule(part, input, state));
    });
    return strictest ? strictest.verdict : state.watched;
  }

  #rule(part: PlannedEffect, input: RuleInput, state: MatchState): Ruling | undefined {
    for (const rule of part.rules.candidates(input)) {
      if (!holds(rule, input) || !state.counts(rule)) continue;
      if (rule.key !== "watch") return { verdict: rule.answer(input), order: rule.order };
      state.watched ??= rule.answer(input);
    }
    return part.covered ? this.#fallback : undefined;
  }

  decideReturn(): undefined {
    return undefined;
  }

  decideFunction(event: FunctionEvent, subscription: FunctionSubscription): Verdict | undefined {
    return this.#functions.decide(event, subscription);
  }

  decideInstruction(event: InstructionEvent, subscription: InstructionSubscription): Verdict | undefined {
    return this.#instructions.decide(event, subscription);
  }

  cacheScope(nr: number): CacheScope | undefined {
    const plan = this.#plans.get(nr);
    return plan && cacheScopeOf(plan);
  }

  restsOnMemory(nr: number): boolean {
    const plan = this.#plans.get(nr);
    return plan !== undefined && restsOnMemory(plan, this.default !== "allow");
  }

  cachesMissing(nr: number): boolean {
    const plan = this.#plans.get(nr);
    return plan !== undefined && cachesMissing(plan);
  }

  cachesExecs(nr: number): boolean {
    const plan = this.#plans.get(nr);
    return plan !== undefined && cachesExecs(plan);
  }

  readRules(isOwn: IsOwn): ReadRules | NotStatic {
    const rules = staticReads(this.name, this.#plans, isOwn);
    if ("why" in rules) return rules;
    const openFiles = staticOpenFiles(this.#plans, { hides: rules.hides, isOwn });
    const released = (held: HeldByView) => new YamlPolicy(this.#parts, { policy: this, held });
    return { ...rules, openFiles, released };
  }

  tiers(held: HeldByView | undefined): RuleTier[] {
    return ruleTiers(this, this.#plans, held);
  }

  /** The explanation in lines: each rule that was tried, and why it did not match. */
  why(event: CallEvent): string[] {
    return this.explain(event).deeds.flatMap(({ does, on, steps }) => [
      `${does.join(", ") || "call"} ${on}`,
      ...steps.map(({ rule, at, matched, because }) => `${matched ? "✓" : "·"} ${rule} (${at}): ${because}`),
    ]);
  }

  lint(): string[] {
    const findings = lint(this.rules, this.default);
    return [
      ...findings.map(({ rule, at, text }) => `${at}: rule ${rule}: ${text}`),
      ...this.#instructions.lint(),
    ];
  }

  /** Which rule decides an event, and why each earlier rule does not. Counts nothing. */
  explain(event: CallEvent): Explanation {
    const plan = this.#plans.get(event.nr);
    const inputs: { part: PlannedEffect; sight: RuleInput }[] = [];
    if (plan) eachRuleInput(plan, event, (part, input) => inputs.push({ part, sight: input }));
    return explain(inputs, this.rules, this.#fallback, new MatchState(event, true));
  }
}

function withoutHeld(calls: Subscription, { hasLinks, openFiles }: HeldByView): Subscription {
  const left = withoutReads(calls, hasLinks);
  return openFiles ? withoutOpenFiles(left) : left;
}

function fallbackVerdict(action: Default): Verdict {
  if (action === "deny") return { action, errno: "EACCES", rule: "default", reason: NO_RULE };
  return {
    action: action as VerdictAction,
    rule: "default",
    ...(action === "ask" && { reason: NO_RULE_ASK }),
  };
}

function holds(rule: PolicyRule, input: RuleInput): boolean {
  for (const condition of rule.conditions) if (!condition.holds(input)) return false;
  return true;
}

export function stricter(a: Ruling | undefined, b: Ruling | undefined): Ruling | undefined {
  if (!a || !b) return a ?? b;
  if (isStricter(b.verdict.action, a.verdict.action)) return b;
  return isStricter(a.verdict.action, b.verdict.action) || a.order <= b.order ? a : b;
}

/** All effects of the call, one after the other. Not a generator, because this runs at every call. */
function eachRuleInput(
  plan: CallPlan,
  event: CallEvent,
  see: (part: PlannedEffect, input: RuleInput) => void,
): void {
  const { call } = plan;
  const bits = flagBits(call, event);
  let seen = false;
  for (const part of plan.effects) {
    if (part.effect!.holds && !part.effect!.holds(bits, event)) continue;
    for (const subject of effectSubjects(part.effect!, event)) {
      seen = true;
      see(part, { event, call, bits, subject });
    }
  }
  if (plan.whole && !seen)
    for (const subject of callSubjects(event)) see(plan.whole, { event, call, bits, subject });
}

/** One event: a rule counts it once, however many of its effects it matches. */
export class MatchState {
  readonly event: CallEvent;
  watched: Verdict | undefined;
  readonly #onlyLooks: boolean;
  #counted: Map<PolicyRule, boolean> | undefined;

  constructor(event: CallEvent, onlyLooks: boolean) {
    this.event = event;
    this.#onlyLooks = onlyLooks;
  }

  counts(rule: PolicyRule): boolean {
    if (rule.counters.length === 0) return true;
    this.#counted ??= new Map();
    const known = this.#counted.get(rule);
    if (known !== undefined) return known;
    const result = rule.counters.every((counter) =>
      this.#onlyLooks ? counter.peek(this.event) : counter.take(this.event),
    );
    this.#counted.set(rule, result);
    return result;
  }
}
