import type { Syscall } from "../abi/index.js";
import type { DecodedCall } from "../decode/call.js";
import type { Answer } from "../kernel/stop.js";
import type { Action, Verdict } from "../verdict.js";

/** A way a call reaches us, and a way our answer reaches the kernel. */
export interface Door {
  readonly name: "notify" | "trace";
  /** The door's number in the shared buffer. */
  readonly number: number;
  /** Whether it can carry out that action on that call. */
  can(call: Syscall, action: Action): boolean;
  /**
   * Turns a verdict on a call into the native answer. Throws NotPossible when this call cannot be changed so; the
   * caller then refuses it. `after` collects what has to be put back or adjusted when the call returns.
   */
  carryOut(event: DecodedCall, verdict: Verdict, answer: Answer, after: AfterCall): void;
}

/** What is left to do when a changed call returns. */
export interface AfterCall {
  /** Memory of the program that was changed for the duration of the call. */
  restore: { address: bigint; bytes: Uint8Array }[];
  /** The program asked to write this much; that is what it is told when all that we put in its place was written. */
  wrote?: { asked: number; given: number };
}

/** A change that makes no sense for the call, or that its door cannot make. The text says why. */
export class NotPossible extends Error {}
