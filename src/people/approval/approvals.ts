import type { Finding } from "../../intent/guard/finding.js";
import type { ApprovalKind, ApprovalScope, ApprovalState } from "../../record/store/store.js";

/** Something that needs an approver's answer before it may happen. */
export interface ApprovalRequest {
  readonly kind: ApprovalKind;
  readonly session: string;
  readonly toolCall?: string;
  /** One line for a person: the command, `write src/a.ts`, `connect 10.0.0.1:443`. */
  readonly what: string;
  /** What exactly would be approved: see digest.ts. */
  readonly digest: string;
  /** What earlier versions of HERMES made of the same: answers for always that they kept still hold. */
  readonly earlierDigests?: readonly string[];
  /** Why it is asked; every one of them must be covered by the answer. */
  readonly findings: readonly Finding[];
  /** A command that is composed of others: each part with its own digest and the findings that are its own. */
  readonly parts?: readonly ApprovalPart[];
  /** The program, when there is one: interpreters and wrappers are never approved for always. */
  readonly argv?: readonly string[];
  /** Every program that it would run, as `commandDigest` lists them: one interpreter among them is enough for that. */
  readonly programs?: readonly (readonly string[])[];
  /** Why it cannot be approved for always, where the caller knows a reason. */
  readonly notAlways?: string;
  /** What else helps to decide: explanation, effects, diff. Plain data. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

export interface ApprovalPart {
  readonly what: string;
  readonly digest: string;
  readonly findings: readonly Finding[];
}

export interface ApprovalOutcome {
  readonly granted: boolean;
  readonly state: ApprovalState;
  readonly scope?: ApprovalScope;
  /** The row that answered it; absent when a standing permission or a mode did. */
  readonly approval?: string;
  readonly by: string;
  /** A word to the agent. */
  readonly note?: string;
}

export interface RequestOptions {
  /** Aborting withdraws the question. */
  readonly signal?: AbortSignal;
  /** Milliseconds; `approvals.timeout` bounds it. No answer by then is a refusal. */
  readonly patience?: number;
  /** Called as soon as it is parked: approvers answer this id. */
  readonly parked?: (approval: string) => void;
}

/** Asks the approvers; implemented in queue.ts. */
export interface Approvals {
  request(request: ApprovalRequest, options?: RequestOptions): Promise<ApprovalOutcome>;
}
