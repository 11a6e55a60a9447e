import type { CallEvent, ReturnEvent } from "../event.js";
import type { Action, Verdict } from "../verdict.js";

/** Event → verdict, whatever language it was written in. Deciding does no I/O and runs on any operating system. */
export interface Policy {
  readonly name: string;
  /** Content hash: every record says which version decided it. */
  readonly version: string;
  /** Where it was loaded from, for error messages. */
  readonly file?: string;
  /** Every file that it was made of: when one of them changes, it is loaded anew. */
  readonly files?: readonly string[];
  readonly subscription: Subscription;
  /** Protections without which a run must not start: notify, trace, no_new_privs, fence. */
  readonly requires?: readonly string[];
  /** Where in the policy's source (file:line) an error that it threw came from. */
  locate?(error: Error): string | undefined;
  /** Undefined means that this policy has nothing to say: allow. */
  decide(event: CallEvent): Verdict | undefined;
  decideReturn(event: ReturnEvent): Verdict | undefined;
  /** What is allowed in it but probably not meant: unreachable rules, patterns that match everything. */
  lint?(): readonly string[];
  /** Why it decides so, line by line, where it can say more than its answer does. */
  why?(event: CallEvent): readonly string[];
}

/** What a policy wants to see, and how it may answer. */
export interface Subscription {
  readonly calls: ReadonlyMap<number, Interest>;
  /** Decided by the kernel's filter on register arguments alone; they never stop the program. */
  readonly constants: readonly ConstantRule[];
}

export interface Interest {
  readonly entry: boolean;
  readonly returns: boolean;
  /** The actions that its answers may have. The fewer, the cheaper the door. */
  readonly actions: ReadonlySet<Action>;
}

/** Refuse (or kill for) a call whose register arguments have these constant values. */
export interface ConstantRule {
  readonly id: string;
  readonly nr: number;
  readonly tests: readonly ConstantTest[];
  readonly action: "deny" | "kill";
  readonly errno: number;
  readonly reason?: string;
}

export interface ConstantTest {
  readonly arg: number;
  readonly width: 32 | 64;
  readonly op: "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "in" | "masked";
  readonly value: bigint | bigint[];
  readonly mask?: bigint;
}
