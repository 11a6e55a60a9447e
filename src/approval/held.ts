import type { Decision } from "../verdict.js";
import { refused } from "./questions.js";

/** What a thread is held for: a person's answer, or a time. */
export interface Waiting {
  readonly decision: Decision;
  /** What a person was asked about it. */
  readonly question?: number;
}

/** Threads that are held, each with what is to be done with it when its time comes. */
export class Held<T extends Waiting> {
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

  /** Its time has come. What nobody answered is refused. */
  take(tid: number): T | undefined {
    const held = this.#byThread.get(tid);
    this.#byThread.delete(tid);
    if (held?.question === undefined || held.decision.action !== "ask") return held;
    this.#withdraw(held.question, "its time is over, or nobody waits any more");
    return { ...held, decision: refused(held.decision, "needs approval, and nobody answered in time") };
  }

  /** A person has answered these questions. Returns the threads that are decided on now. */
  answered(questions: ReadonlySet<number>, settle: (decision: Decision) => Decision): number[] {
    const decided: number[] = [];
    for (const [tid, held] of this.#byThread) {
      if (held.question === undefined || !questions.has(held.question)) continue;
      this.#byThread.set(tid, { ...held, decision: settle(held.decision) });
      decided.push(tid);
    }
    return decided;
  }

  /** Whoever waited is gone. Returns what it waited with. */
  gone(tid: number): T | undefined {
    const held = this.#byThread.get(tid);
    this.#byThread.delete(tid);
    if (held?.question !== undefined) this.#withdraw(held.question, "whoever asked is gone");
    return held;
  }
}
