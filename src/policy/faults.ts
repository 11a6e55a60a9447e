import type { SyscallName } from "../abi/index.js";
import { HermesError } from "../nouns/errors.js";
import type { CallEvent } from "../nouns/event.js";
import { type Fault, fault, type Verdict } from "../nouns/verdict.js";
import { callsNamed, type DefinedPolicy, definePolicy, type EntryHandlers } from "./define.js";

/** One injected fault, and when it occurs. */
export interface FaultRule extends Fault {
  readonly id: string;
  /** A call, a `%class`, or several. */
  readonly call: SyscallName | `%${string}` | readonly (SyscallName | `%${string}`)[];
  /** Only where this holds; other calls are not counted. */
  readonly where?: (event: CallEvent) => boolean;
  readonly when?: When;
  readonly reason?: string;
}

/** Which of the matching calls, counted from 1. Without any field: all of them. */
export interface When {
  /** Only this one. */
  readonly nth?: number;
  /** This one and those after it … */
  readonly from?: number;
  /** … every n-th of them. */
  readonly step?: number;
  /** Each with this probability, from a generator that the seed makes repeatable. */
  readonly probability?: number;
  readonly seed?: number;
}

/** Decides for one matching call after the other whether it gets the fault. */
export function occurrences(when: When = {}): () => boolean {
  const random = generator(when.seed ?? 1);
  let count = 0;
  return () => {
    count++;
    if (when.nth !== undefined && count !== when.nth) return false;
    const from = when.from ?? 1;
    if (count < from || (count - from) % (when.step ?? 1) !== 0) return false;
    return when.probability === undefined || random() < when.probability;
  };
}

/** A small, well-mixed generator (xorshift32): runs repeat on every machine. */
function generator(seed: number): () => number {
  let state = (Math.imul(seed | 0, 0x9e3779b1) ^ 0x5bd1e995) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** A policy of faults. Rules are tried in order; the first that applies is injected. */
export function defineFaults(name: string, rules: readonly FaultRule[]): DefinedPolicy {
  const byCall = new Map<string, ((event: CallEvent) => Verdict | undefined)[]>();
  for (const rule of rules) {
    const decide = faultDecider(name, rule);
    for (const key of typeof rule.call === "string" ? [rule.call] : rule.call)
      for (const call of callsNamed(name, key))
        byCall.set(call.name, [...(byCall.get(call.name) ?? []), decide]);
  }
  const on: Record<string, (event: CallEvent) => Verdict | undefined> = {};
  for (const [call, deciders] of byCall) on[call] = (event) => firstOf(deciders, event);
  return definePolicy({ name, actions: ["fault"], on: on as unknown as EntryHandlers });
}

/** Every rule counts every call that it matches, also when an earlier rule applies. */
function firstOf(
  deciders: ((event: CallEvent) => Verdict | undefined)[],
  event: CallEvent,
): Verdict | undefined {
  let hit: Verdict | undefined;
  for (const decide of deciders) {
    const verdict = decide(event);
    hit ??= verdict;
  }
  return hit;
}

function faultDecider(policy: string, rule: FaultRule): (event: CallEvent) => Verdict | undefined {
  const { errno, delay, signal, short } = rule;
  if (errno === undefined && delay === undefined && signal === undefined && short === undefined)
    throw new HermesError("POLICY_INVALID", {
      file: policy,
      message: `fault ${rule.id} has no effect: give errno, delay, signal or short`,
    });
  const injected: Fault = {
    ...(errno !== undefined && { errno }),
    ...(delay !== undefined && { delay }),
    ...(signal !== undefined && { signal }),
    ...(short !== undefined && { short }),
  };
  const verdict: Verdict = { ...fault(injected, rule.reason), rule: rule.id };
  const hits = occurrences(rule.when);
  return (event) => ((rule.where === undefined || rule.where(event)) && hits() ? verdict : undefined);
}
