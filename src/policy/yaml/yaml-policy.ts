import type { CallEvent, FunctionEvent, InstructionEvent } from "../../event.js";
import { type Action, isStricter, type Verdict } from "../../verdict.js";
import { flagBits, subjectsOf, subjectsOfCall } from "../match/subject.js";
import type {
  FunctionInterest,
  InstructionInterest,
  Policy,
  PolicyFence,
  PolicyFloor,
  Settling,
  Subscription,
} from "../policy.js";
import { type Explanation, explain } from "./explain.js";
import { floorOf } from "./floor.js";
import { type FunctionRule, FunctionRules } from "./function-rule.js";
import type { InstructionRule } from "./instruction-rule.js";
import { InstructionRules } from "./instruction-rules.js";
import { lint } from "./lint.js";
import { type CallPlan, type PlannedDeed, planCalls, subscriptionOf } from "./plan.js";
import { restsOnMemory } from "./reread.js";
import type { Rule, Sight } from "./rule.js";
import { isToldOnce, settlingOf } from "./settling.js";

export type Default = "allow" | "deny" | "ask";

export interface PolicyParts {
  readonly name: string;
  readonly version: string;
  readonly file: string;
  readonly files: readonly string[];
  readonly description?: string;
  readonly requires: readonly string[];
  readonly fence?: PolicyFence;
  readonly fallback: Default;
  readonly rules: readonly Rule[];
  /** Rules on functions inside the program. */
  readonly functions?: readonly FunctionRule[];
  readonly instructions?: readonly InstructionRule[];
}

/** What a policy says about one deed. */
export interface Ruling {
  readonly verdict: Verdict;
  readonly order: number;
}

const NO_RULE = "no rule allows this, and the policy's default is to refuse";
const NO_RULE_ASK = "no rule speaks of this";

/** A policy made of rules. Each deed of a call gets the answer of the first rule that matches it; the strictest holds. */
export class YamlPolicy implements Policy {
  readonly name: string;
  readonly version: string;
  readonly file: string;
  readonly files: readonly string[];
  readonly description: string | undefined;
  /** What the run must offer: whoever starts it checks. */
  readonly requires: readonly string[];
  readonly fence?: PolicyFence;
  readonly floor: PolicyFloor;
  readonly subscription: Subscription;
  readonly rules: readonly Rule[];
  readonly default: Default;
  readonly #plans: ReadonlyMap<number, CallPlan>;
  readonly #fallback: Ruling;
  readonly #functions: FunctionRules;
  readonly #instructions: InstructionRules;

  constructor(parts: PolicyParts) {
    this.name = parts.name;
    this.version = parts.version;
    this.file = parts.file;
    this.files = parts.files;
    this.description = parts.description;
    this.requires = parts.requires;
    if (parts.fence) this.fence = parts.fence;
    this.rules = parts.rules;
    this.default = parts.fallback;
    this.floor = floorOf(parts.rules, parts.fallback);
    this.#plans = planCalls(parts.rules, parts.fallback);
    this.#functions = new FunctionRules(parts.functions ?? []);
    this.#instructions = new InstructionRules(parts.instructions ?? []);
    const functions = this.#functions.interests;
    const instructions = this.#instructions.interests;
    this.subscription = {
      ...subscriptionOf(this.#plans, parts.fallback),
      ...(functions.length > 0 && { functions }),
      ...(instructions.length > 0 && { instructions }),
    };
    this.#fallback = { verdict: fallbackVerdict(parts.fallback), order: Number.POSITIVE_INFINITY };
  }

  decide(event: CallEvent): Verdict | undefined {
    const plan = this.#plans.get(event.nr);
    if (!plan) return undefined;
    const turn = new Turn(event, false);
    let settled: Ruling | undefined;
    eachSight(plan, event, (part, sight) => {
      settled = stricter(settled, this.#rule(part, sight, turn));
    });
    return settled ? settled.verdict : turn.watched;
  }

  #rule(part: PlannedDeed, sight: Sight, turn: Turn): Ruling | undefined {
    for (const rule of part.rules.candidates(sight)) {
      if (!holds(rule, sight) || !turn.counts(rule)) continue;
      if (rule.key !== "watch") return { verdict: rule.answer(sight), order: rule.order };
      turn.watched ??= rule.answer(sight);
    }
    return part.covered ? this.#fallback : undefined;
  }

  decideReturn(): undefined {
    return undefined;
  }

  decideFunction(event: FunctionEvent, interest: FunctionInterest): Verdict | undefined {
    return this.#functions.decide(event, interest);
  }

  decideInstruction(event: InstructionEvent, interest: InstructionInterest): Verdict | undefined {
    return this.#instructions.decide(event, interest);
  }

  settles(nr: number): Settling | undefined {
    const plan = this.#plans.get(nr);
    return plan && settlingOf(plan);
  }

  restsOnMemory(nr: number): boolean {
    const plan = this.#plans.get(nr);
    return plan !== undefined && restsOnMemory(plan, this.default !== "allow");
  }

  toldOnce(nr: number): boolean {
    const plan = this.#plans.get(nr);
    return plan !== undefined && isToldOnce(plan);
  }

  /** The explanation in lines: each rule that was asked, and what kept it from matching. */
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

  /** Which rule decides an event, and why each rule before it does not. Counts nothing. */
  explain(event: CallEvent): Explanation {
    const plan = this.#plans.get(event.nr);
    const sights: { part: PlannedDeed; sight: Sight }[] = [];
    if (plan) eachSight(plan, event, (part, sight) => sights.push({ part, sight }));
    return explain(sights, this.rules, this.#fallback, new Turn(event, true));
  }
}

function fallbackVerdict(action: Default): Verdict {
  if (action === "deny") return { action, errno: "EACCES", rule: "default", reason: NO_RULE };
  return { action: action as Action, rule: "default", ...(action === "ask" && { reason: NO_RULE_ASK }) };
}

function holds(rule: Rule, sight: Sight): boolean {
  for (const condition of rule.conditions) if (!condition.holds(sight)) return false;
  return true;
}

export function stricter(a: Ruling | undefined, b: Ruling | undefined): Ruling | undefined {
  if (!a || !b) return a ?? b;
  if (isStricter(b.verdict.action, a.verdict.action)) return b;
  return isStricter(a.verdict.action, b.verdict.action) || a.order <= b.order ? a : b;
}

/** Everything that the call does, one thing at a time. No generator: this happens at every call. */
function eachSight(plan: CallPlan, event: CallEvent, see: (part: PlannedDeed, sight: Sight) => void): void {
  const { call } = plan;
  const bits = flagBits(call, event);
  let seen = false;
  for (const part of plan.deeds) {
    if (part.deed!.holds && !part.deed!.holds(bits, event)) continue;
    for (const subject of subjectsOf(part.deed!, event)) {
      seen = true;
      see(part, { event, call, bits, subject });
    }
  }
  if (plan.whole && !seen)
    for (const subject of subjectsOfCall(event)) see(plan.whole, { event, call, bits, subject });
}

/** One event's turn: a rule counts it once, whatever number of deeds it matches. */
export class Turn {
  readonly event: CallEvent;
  watched: Verdict | undefined;
  readonly #onlyLooks: boolean;
  #counted: Map<Rule, boolean> | undefined;

  constructor(event: CallEvent, onlyLooks: boolean) {
    this.event = event;
    this.#onlyLooks = onlyLooks;
  }

  counts(rule: Rule): boolean {
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
