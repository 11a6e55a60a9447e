import { syscallByNumber } from "./abi/index.js";
import { describe } from "./approval/question.js";
import { type DeedCall, deedCall } from "./audit/deed-call.js";
import type { CallEvent } from "./event.js";
import { MAX_SYSCALL } from "./kernel/layout.js";
import type { Action, Decision } from "./verdict.js";

/** What a session did, in numbers. */
export interface SummaryReport {
  /** Calls that were stopped and decided. */
  readonly calls: number;
  readonly byCall: Readonly<Record<string, number>>;
  readonly byAction: Readonly<Partial<Record<Action, number>>>;
  /** Decisions other than allow, and calls that a rule watches, by policy, rule and call, the most frequent first. */
  readonly decisions: readonly DecisionCount[];
  /** Where they were asked for: decisions other than allow, each with what it fell on, in the order they came. */
  readonly deeds?: readonly DeedCount[];
}

/** One thing that was refused, asked about or changed, however often it was tried. */
export interface DeedCount {
  /** `run git push`, `openat /etc/shadow (O_RDONLY)`, `connect 10.0.0.1:443` */
  readonly what: string;
  readonly call: string;
  /** What the call was about, for whoever decides on it again. */
  readonly about: DeedCall;
  readonly action: Action;
  readonly policy: string;
  readonly version: string;
  readonly rule?: string;
  readonly reason?: string;
  readonly count: number;
}

export interface DecisionCount {
  readonly action: Action;
  readonly policy: string;
  readonly rule?: string;
  readonly reason?: string;
  readonly call: string;
  readonly count: number;
}

/** Who counts calls that are answered without us. */
export interface Unasked {
  /** How many there were since the last time, by number. */
  made(): Iterable<readonly [nr: number, count: number]>;
}

type Deeds = Map<string, { -readonly [K in keyof DeedCount]: DeedCount[K] }>;

/** A hostile program must not grow the supervisor by making policies say ever new things. */
const MAX_KINDS = 1000;
const MAX_DEEDS = 100;
const MAX_INSIDE = 10_000;

/** Counts decisions. An allowed call costs one increment. */
export class Summary {
  readonly #calls = new Float64Array(MAX_SYSCALL + 1);
  readonly #decisions = new Map<string, { decision: Decision; nr: number | string; count: number }>();
  /** By name; only what policies named is counted, so there are few. */
  readonly #inside = new Map<string, number>();
  readonly #deeds: Deeds | undefined;
  unasked: Unasked | undefined;

  /** `deeds`: also what each decision fell on. */
  constructor(deeds = false) {
    this.#deeds = deeds ? new Map() : undefined;
  }

  count(event: CallEvent, decision: Decision): void {
    const { nr } = event;
    this.#calls[nr >= 0 && nr < MAX_SYSCALL ? nr : MAX_SYSCALL]!++;
    if (decision.action === "allow" && !decision.watched) return;
    this.#remember(nr, decision);
    if (this.#deeds) this.#rememberDeed(event, decision, this.#deeds);
  }

  /** Calls that nobody was asked about: recorded by the program itself, or allowed by an answer that stands. */
  countUnasked(nr: number, count = 1): void {
    this.#calls[nr >= 0 && nr < MAX_SYSCALL ? nr : MAX_SYSCALL]! += count;
  }

  #rememberDeed(event: CallEvent, decision: Decision, deeds: Deeds): void {
    const { action, policy, version, rule, reason } = decision;
    const what = describe(event);
    const key = `${action} ${policy} ${rule} ${what}`;
    const known = deeds.get(key);
    if (known) known.count++;
    else if (deeds.size < MAX_DEEDS)
      deeds.set(key, {
        what,
        call: event.name,
        about: deedCall(event),
        action,
        policy,
        version,
        ...(rule !== undefined && { rule }),
        ...(reason !== undefined && { reason }),
        count: 1,
      });
  }

  /** An event inside the program, which has no number. */
  countInside(name: string, decision: Decision): void {
    const known = this.#inside.get(name);
    if (known !== undefined || this.#inside.size < MAX_INSIDE) this.#inside.set(name, (known ?? 0) + 1);
    if (decision.action !== "allow" || decision.watched) this.#remember(name, decision);
  }

  countReturn(nr: number | string, decision: Decision): void {
    if (decision.action !== "allow") this.#remember(nr, decision);
  }

  #remember(nr: number | string, decision: Decision): void {
    const full = this.#decisions.size >= MAX_KINDS;
    const detail = full ? "" : (decision.rule ?? decision.reason ?? "");
    const key = `${nr} ${decision.action} ${decision.policy} ${detail}`;
    const known = this.#decisions.get(key);
    if (known) known.count++;
    else this.#decisions.set(key, { decision, nr, count: 1 });
  }

  report(): SummaryReport {
    for (const [nr, count] of this.unasked?.made() ?? []) this.countUnasked(nr, count);
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
    const decisions = [...this.#decisions.values()].map(({ decision, nr, count }) => ({
      action: decision.action,
      policy: decision.policy,
      ...(decision.rule !== undefined && { rule: decision.rule }),
      ...(decision.reason !== undefined && { reason: decision.reason }),
      call: callName(nr),
      count,
    }));
    decisions.sort((a, b) => b.count - a.count);
    const byAction: Partial<Record<Action, number>> = {};
    for (const { action, count } of decisions)
      if (action !== "allow") byAction[action] = (byAction[action] ?? 0) + count;
    return { calls, byCall, byAction, decisions, ...(this.#deeds && { deeds: [...this.#deeds.values()] }) };
  }
}

function callName(nr: number | string): string {
  if (typeof nr === "string") return nr;
  return nr === MAX_SYSCALL ? "unknown" : (syscallByNumber(nr)?.name ?? `syscall_${nr}`);
}
