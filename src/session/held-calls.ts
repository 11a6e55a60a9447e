import { ANSWER, MAX_PINS, PIN_SIZE } from "../kernel/binding/layout.js";
import { native } from "../kernel/binding/native.js";
import type { Stop, StopAnswer } from "../kernel/binding/stop.js";
import type { DecodedCall } from "../kernel/decode/call.js";
import type { Decision } from "../nouns/verdict.js";
import { type HeldThread, HeldThreads } from "../people/approval/held-threads.js";
import type { PendingCall } from "./returns.js";

/** An event that waits: for a person's answer, or for the end of a delay. */
interface HeldCall extends HeldThread {
  readonly event: DecodedCall;
  /** What the call reaches, still open. */
  readonly pins: Uint8Array;
  /** Set when it is a return that waits. */
  readonly pending?: PendingCall;
}

/** The calls of a session that wait, by thread. Each keeps a copy of its event and what it reaches open. */
export class HeldCalls {
  readonly #stop: Stop;
  readonly #answer: StopAnswer;
  readonly #held: HeldThreads<HeldCall>;

  constructor(stop: Stop, answer: StopAnswer, withdraw: (question: number, why: string) => void) {
    this.#stop = stop;
    this.#answer = answer;
    this.#held = new HeldThreads<HeldCall>(withdraw);
  }

  get threads(): Iterable<number> {
    return this.#held.threads;
  }

  hold(event: DecodedCall, decision: Decision, more?: Pick<HeldCall, "pending" | "question">): void {
    const pins = this.#stop.takePins();
    this.#held.set(event.tid, { event: event.detach(), decision, pins, ...more });
    this.#answer.begin(ANSWER.hold);
  }

  /** Returns the milliseconds. */
  delay(event: DecodedCall, decision: Decision, pending?: PendingCall): number {
    const { delay = 0, ...fault } = decision.fault!;
    this.hold(event, { ...decision, fault }, pending && { pending });
    return Math.max(1, delay);
  }

  /** The call goes on: what it reaches lies in the shared buffer again. */
  take(tid: number): HeldCall | undefined {
    const held = this.#held.take(tid);
    if (held) this.#stop.givePins(held.pins);
    return held;
  }

  answered(questions: ReadonlySet<number>, decide: (decision: Decision) => Decision): number[] {
    return this.#held.answered(questions, decide);
  }

  /** The caller is gone. */
  abandon(tid: number): void {
    const held = this.#held.gone(tid);
    if (!held) return;
    for (let i = 0; i < MAX_PINS; i++)
      native().releasePin(held.pins.subarray(i * PIN_SIZE, (i + 1) * PIN_SIZE));
  }
}
