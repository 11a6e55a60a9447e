import type { Syscall } from "../../abi/index.js";
import { type Decision, deny, type Verdict, type VerdictAction } from "../../nouns/verdict.js";
import type { StopAnswer } from "../binding/stop.js";
import type { DecodedCall } from "../decode/call.js";

/** A mechanism that reports calls to us and passes our answers to the kernel. */
export interface Door {
  readonly name: "notify" | "trace";
  /** The door's number in the shared buffer. */
  readonly number: number;
  /** True when this door can carry out the action on the call, in every case: what a run chooses doors by. */
  can(call: Syscall, action: VerdictAction): boolean;
  /** True when it can do so in all but rare cases, which are refused: enough for a policy that takes over later. */
  canLater(call: Syscall, action: VerdictAction): boolean;
  /**
   * Translates a verdict into the native answer. Throws NotPossible when this call cannot be changed that
   * way; the caller then refuses the call. `after` collects what to restore or adjust when the call returns.
   */
  carryOut(event: DecodedCall, verdict: Verdict, answer: StopAnswer, after: AfterCall): void;
}

/** Work that remains when a changed call returns. */
export interface AfterCall {
  /** Program memory that was changed for the duration of the call. */
  restore: { address: bigint; bytes: Uint8Array }[];
  /** The program asked to write `asked` bytes. It sees that count when all `given` bytes were written. */
  wrote?: { asked: number; given: number };
}

/** A change that does not fit the call, or that its door cannot make. The message says why. */
export class NotPossible extends Error {}

/** The refusal that takes the place of a decision which cannot be carried out. */
export function insteadOf({ policy, version }: Decision, error: Error): Decision {
  const isKnown = error instanceof NotPossible || error instanceof RangeError;
  const reason = `policy ${policy}: ${isKnown ? "" : "its answer makes no sense: "}${error.message}`;
  return { ...deny(reason), rule: "not-possible", policy, version };
}
