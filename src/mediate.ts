import type { CallEvent, FunctionEvent, InstructionEvent, ReturnEvent } from "./event.js";
import type { FunctionWish, InstructionWish, PolicyStack } from "./policy/stack.js";
import type { Summary } from "./summary.js";
import type { Decision } from "./verdict.js";

/**
 * Event → policies → approval → verdict → record. Read this file first: everything before it makes events out of what
 * the kernel stops (native/, decode/), everything after it turns verdicts into what the kernel does (doors/).
 */
export class Mediator {
  #stack: PolicyStack;
  readonly #summary: Summary;

  constructor(stack: PolicyStack, summary: Summary) {
    this.#stack = stack;
    this.#summary = summary;
  }

  replaceStack(stack: PolicyStack): void {
    this.#stack = stack;
  }

  /** A call waits: may it happen, and as what? */
  decide(event: CallEvent): Decision {
    return this.#stack.decide(event);
  }

  /** A call has happened: what may the program see of its result? */
  decideReturn(event: ReturnEvent): Decision {
    return this.#stack.decideReturn(event);
  }

  /** A function inside the program is called, or has returned. */
  decideFunction(event: FunctionEvent, wishes: readonly FunctionWish[]): Decision {
    return this.#stack.decideFunction(event, wishes);
  }

  decideInstruction(event: InstructionEvent, wishes: readonly InstructionWish[]): Decision {
    return this.#stack.decideInstruction(event, wishes);
  }

  recordInstruction(event: InstructionEvent, decision: Decision): void {
    this.#summary.countInside(event.name, decision);
  }

  /** What was carried out in the end, which may be stricter than what was decided. */
  record(event: CallEvent, decision: Decision): void {
    this.#summary.count(event, decision);
  }

  recordFunction(event: FunctionEvent, decision: Decision): void {
    this.#summary.countInside(event.name, decision);
  }

  recordFunctionReturn(event: FunctionEvent, decision: Decision): void {
    this.#summary.countReturn(event.name, decision);
  }

  recordReturn(nr: number, decision: Decision): void {
    this.#summary.countReturn(nr, decision);
  }
}
