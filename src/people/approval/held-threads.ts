import type { Decision } from "../../nouns/verdict.js";
import { refusedDecision } from "./questions.js";

/** What a thread is held for: an approver's answer, or a time. */
export interface HeldThread {
  readonly decision: Decision;
  /** The question about it that an approver was asked. */
  readonly question?: number;
}

/** Threads that are held, each with the decision to carry out when its time comes. */
export class HeldThreads<T extends HeldThread> {
  readonly #byThread = new Map<number, T>();
  readonly #withdraw: (question: number, why: string) => void;

  constructor(withdraw: (question: number, why: string) => void) {
    this.#withdraw = withdraw;
  }

  get threads(): number[] {
    return [...this.#byThread.keys()];
  }

  set(tid: number, waiting: T): void {
    this.#byThread.set(tid, waiting);
  }

  /** Its time has come. Without an answer it is refused. */
  take(tid: number): T | undefined {
    const held = this.#byThread.get(tid);
    this.#byThread.delete(tid);
    if (held?.question === undefined || held.decision.action !== "ask") return held;
    this.#withdraw(held.question, "its time is over");
    return {
      ...held,
      decision: refusedDecision(held.decision, "needs approval, and no approver answered in time"),
    };
  }

  /** These questions are answered. Returns the threads that are decided on now. */
  answered(questions: ReadonlySet<number>, settle: (decision: Decision) => Decision): number[] {
    const decided: number[] = [];
    for (const [tid, held] of this.#byThread) {
      if (held.question === undefined || !questions.has(held.question)) continue;
      this.#byThread.set(tid, { ...held, decision: settle(held.decision) });
      decided.push(tid);
    }
    return decided;
  }

  /** The thread has ended. Returns what it waited with. */
  gone(tid: number): T | undefined {
    const held = this.#byThread.get(tid);
    this.#byThread.delete(tid);
    if (held?.question !== undefined) this.#withdraw(held.question, "the program that asked has ended");
    return held;
  }
}
