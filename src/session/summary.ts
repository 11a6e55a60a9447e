import { syscallByNumber } from "../abi/index.js";
import { MAX_SYSCALL } from "../kernel/binding/layout.js";
import type { CallEvent, FunctionEvent, InstructionEvent } from "../nouns/event.js";
import { escapeControl } from "../nouns/text.js";
import { type Decision, POLICY_ERROR, type VerdictAction } from "../nouns/verdict.js";
import { describe } from "../people/approval/question.js";
import type { ReadRefusal } from "../policy/policy.js";
import { type DecidedCall, decidedCall } from "../record/audit/decided-call.js";
import type { RefusalLog } from "./refusal-log.js";
import { TargetBudget, type TargetCount, Targets, targetOf } from "./targets.js";

/** Counts of what a session did. */
export interface SummaryReport {
  /** Calls that were stopped and decided. */
  readonly calls: number;
  readonly byCall: Readonly<Record<string, number>>;
  readonly byAction: Readonly<Partial<Record<VerdictAction, number>>>;
  /** Decisions other than allow, and calls that a rule watches, by policy, rule and call; most frequent first. */
  readonly decisions: readonly DecisionCount[];
  /** Rules that would change what happens, and never did. */
  readonly neverApplied?: readonly RuleName[];
  /** Hidden files that the program looked for. */
  readonly hidden?: readonly HiddenFileSeen[];
  /** On request: decisions other than allow, each with its target, in order. */
  readonly deeds?: readonly DecidedCallCount[];
}

/** One target that was refused, asked about or changed. Repeated tries are one entry with a count. */
export interface DecidedCallCount {
  /** `run git push`, `openat /etc/shadow (O_RDONLY)`, `connect 10.0.0.1:443` */
  readonly what: string;
  readonly call: string;
  /** The details of the call, for a later decision on it. */
  readonly about: DecidedCall;
  readonly action: VerdictAction;
  readonly policy: string;
  readonly version: string;
  readonly rule?: string;
  readonly reason?: string;
  readonly count: number;
  /** No entry of hermes.yaml lifts it: the policy is a program, or not the user's. */
  readonly fixed?: true;
}

export interface RuleName {
  readonly policy: string;
  readonly rule: string;
}

interface HiddenFileSeen {
  readonly path: string;
  readonly policy: string;
  readonly rule: string;
}

interface DecisionCount {
  readonly action: VerdictAction;
  readonly policy: string;
  readonly rule?: string;
  readonly reason?: string;
  readonly call: string;
  readonly count: number;
  /** A fault that only let the call wait. */
  readonly delayed?: true;
  /** What was refused or changed, in the order in which it happened first; of an endless number of targets the first. */
  readonly targets?: readonly TargetCount[];
  /** How many of these decisions were about targets that are not listed. */
  readonly unlisted?: number;
}

interface DecisionKind {
  readonly decision: Decision;
  readonly nr: number | string;
  readonly targets: Targets;
  count: number;
}

/** Counts calls that are answered without the supervisor. */
export interface CachedCallCounter {
  /** The counts since the last query, by syscall number. */
  made(): Iterable<readonly [nr: number, count: number]>;
}

type DecidedCalls = Map<string, { -readonly [K in keyof DecidedCallCount]: DecidedCallCount[K] }>;

/** Limits memory: a hostile program must not grow the supervisor by causing ever new decisions. */
const MAX_KINDS = 1000;
const MAX_DECIDED_CALLS = 100;
/** After so many, what a call is about is no longer looked up. */
const MAX_LOOKED_UP = 1000;
const MAX_INSIDE = 10_000;
/** A policy that is a program can name ever new rules. */
const MAX_APPLIED = 100_000;
/** Instead of a call's name: which call it was is not known. */
const HIDDEN = "hidden";

/** Counts decisions. An allowed call costs one increment. */
export class Summary {
  readonly #calls = new Float64Array(MAX_SYSCALL + 1);
  readonly #decisions = new Map<string, DecisionKind>();
  readonly #budget = new TargetBudget();
  /** Rules that decided something. */
  readonly #applied = new Set<string>();
  /** By name; only calls that policies name are counted, so there are few. */
  readonly #inside = new Map<string, number>();
  readonly #decidedCalls: DecidedCalls | undefined;
  #lookedUp = 0;
  readonly #hidden: HiddenFileSeen[] = [];
  cachedCalls: CachedCallCounter | undefined;
  /** Whether entries of hermes.yaml lift no rule of this policy. */
  isFixed: (policy: string) => boolean = () => false;
  /** Tells refusals while the program runs. */
  log: RefusalLog | undefined;

  /** `deeds`: also record the target of each decision. */
  constructor(decidedCalls = false) {
    this.#decidedCalls = decidedCalls ? new Map() : undefined;
  }

  count(event: CallEvent, decision: Decision): void {
    const { nr } = event;
    this.#calls[nr >= 0 && nr < MAX_SYSCALL ? nr : MAX_SYSCALL]!++;
    if (decision.action === "allow" && !decision.watched) return;
    this.#remember(nr, decision, decision.action === "allow" ? undefined : () => targetOf(event));
    this.log?.take(event, decision);
    if (this.#decidedCalls && decision.action !== "allow" && this.#lookedUp++ < MAX_LOOKED_UP)
      this.#rememberCall(event, decision, this.#decidedCalls);
  }

  /** Calls without a decision: recorded inside the program, or allowed from the verdict cache. */
  countUndecided(nr: number, count = 1): void {
    this.#calls[nr >= 0 && nr < MAX_SYSCALL ? nr : MAX_SYSCALL]! += count;
  }

  #rememberCall(event: CallEvent, decision: Decision, decidedCalls: DecidedCalls): void {
    this.#addCall(describe(event), event.name, () => decidedCall(event), decision, decidedCalls);
  }

  #addCall(
    what: string,
    call: string,
    about: () => DecidedCall,
    decision: Decision,
    decidedCalls: DecidedCalls,
  ): void {
    const { action, policy, version, rule, reason } = decision;
    const key = `${action} ${policy} ${kindOf(decision)} ${what}`;
    const known = decidedCalls.get(key);
    if (known) known.count++;
    else if (decidedCalls.size < MAX_DECIDED_CALLS)
      decidedCalls.set(key, {
        what,
        call,
        about: about(),
        action,
        policy,
        version,
        ...(rule !== undefined && { rule }),
        ...(reason !== undefined && { reason }),
        count: 1,
        ...(this.isFixed(policy) && { fixed: true as const }),
      });
  }

  /** An event inside the program, which has no syscall number. */
  countInside(event: FunctionEvent | InstructionEvent, decision: Decision): void {
    const { name } = event;
    const known = this.#inside.get(name);
    if (known !== undefined || this.#inside.size < MAX_INSIDE) this.#inside.set(name, (known ?? 0) + 1);
    if (decision.action === "allow" && !decision.watched) return;
    this.#remember(name, decision);
    this.log?.take(event, decision);
  }

  /** A hidden file that the program looked for. The kernel refused it, so how often is not known. */
  countHidden(path: string, { policy, rule, reason }: ReadRefusal): void {
    const decision: Decision = {
      action: "deny",
      policy,
      version: "",
      rule,
      ...(reason !== undefined && { reason }),
    };
    this.#remember(HIDDEN, decision, () => path);
    if (this.#hidden.length < MAX_DECIDED_CALLS) this.#hidden.push({ path, policy, rule });
    if (this.#decidedCalls)
      this.#addCall(`read ${escapeControl(path)}`, HIDDEN, () => ({ path }), decision, this.#decidedCalls);
  }

  countReturn(nr: number | string, decision: Decision): void {
    if (decision.action !== "allow") this.#remember(nr, decision);
  }

  #remember(nr: number | string, decision: Decision, target?: () => string | undefined): void {
    const full = this.#decisions.size >= MAX_KINDS;
    const detail = full ? "" : kindOf(decision);
    const key = `${nr} ${decision.action} ${isDelay(decision)} ${decision.policy} ${detail}`;
    const known = this.#decisions.get(key) ?? { decision, nr, targets: new Targets(this.#budget), count: 0 };
    this.#decisions.set(key, known);
    known.count++;
    if (decision.rule !== undefined && this.#applied.size < MAX_APPLIED)
      this.#applied.add(`${decision.policy}\0${decision.rule}`);
    if (target) known.targets.add(target);
  }

  /** What was refused, asked about or changed, if this is remembered. */
  get deeds(): readonly DecidedCallCount[] {
    return [...(this.#decidedCalls?.values() ?? [])];
  }

  /** `changing`: the rules of the policies in force that would change what happens. */
  report(changing: readonly RuleName[] = []): SummaryReport {
    for (const [nr, count] of this.cachedCalls?.made() ?? []) this.countUndecided(nr, count);
    const byCall: Record<string, number> = {};
    let calls = 0;
    this.#calls.forEach((count, nr) => {
      if (count === 0) return;
      byCall[callName(nr)] = count;
      calls += count;
    });
    for (const [name, count] of this.#inside) {
      byCall[name] = count;
      calls += count;
    }
    const decisions = [...this.#decisions.values()].map(({ decision, nr, count, targets }) => ({
      action: decision.action,
      policy: decision.policy,
      ...(decision.rule !== undefined && { rule: decision.rule }),
      ...(decision.reason !== undefined && { reason: decision.reason }),
      call: callName(nr),
      count,
      ...(isDelay(decision) && { delayed: true as const }),
      ...(targets.list.length > 0 && { targets: targets.list, unlisted: targets.unlisted }),
    }));
    decisions.sort((a, b) => b.count - a.count);
    const byAction: Partial<Record<VerdictAction, number>> = {};
    for (const { action, count } of decisions)
      if (action !== "allow") byAction[action] = (byAction[action] ?? 0) + count;
    const neverApplied = changing.filter(({ policy, rule }) => !this.#applied.has(`${policy}\0${rule}`));
    return {
      calls,
      byCall,
      byAction,
      decisions,
      ...(neverApplied.length > 0 && { neverApplied }),
      ...(this.#hidden.length > 0 && { hidden: this.#hidden }),
      ...(this.#decidedCalls && { deeds: this.deeds }),
    };
  }
}

/** What remains of a fault when its time has passed. */
function isDelay({ action, fault }: Decision): boolean {
  return action === "fault" && fault !== undefined && Object.keys(fault).every((part) => part === "delay");
}

/** The rule, or the reason of a decision without one. Failures of a policy differ by their reason. */
function kindOf({ rule, reason = "" }: Decision): string {
  return rule === undefined ? reason : rule === POLICY_ERROR ? `${rule} ${reason}` : rule;
}

function callName(nr: number | string): string {
  if (typeof nr === "string") return nr;
  return nr === MAX_SYSCALL ? "unknown" : (syscallByNumber(nr)?.name ?? `syscall_${nr}`);
}
