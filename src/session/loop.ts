import { errnoName } from "../abi/index.js";
import { HermesError } from "../errors.js";
import { ANSWER, KIND } from "../kernel/layout.js";
import type { Native } from "../kernel/native.js";
import { Answer, Stop } from "../kernel/stop.js";

/** Whoever decides: in this thread, or in another. */
export interface Decider {
  /** 0 when the answer is in the buffer, or for how many milliseconds the event is to be held. */
  handle(kind: number): number;
  release(tid: number): boolean;
}

/** What the rest of the session hears from the loop. */
export interface LoopHost {
  mainExited(status: number): void;
  mainStopped(signal: number): void;
  /** Somebody woke the loop: look at what they want. */
  attend(): void;
}

/** Why the loop returned: no process is left, or it was asked to let something else have the thread for a moment. */
export type LoopEnd = "over" | "paused";

interface Held {
  readonly door: number;
  readonly kind: number;
  readonly tid: number;
  readonly id: bigint;
  readonly result: number;
  readonly nr: number;
  readonly args: Uint8Array;
  readonly due: number;
}

/** Next event → decide → answer, until no process of the session is left. */
export class Loop {
  readonly #native: Native;
  readonly #stop: Stop;
  readonly #answer: Answer;
  readonly #decider: Decider;
  readonly #host: LoopHost;
  #held: Held[] = [];
  #pausing = false;

  constructor(native: Native, memory: ArrayBufferLike, decider: Decider, host: LoopHost) {
    this.#native = native;
    this.#stop = new Stop(memory);
    this.#answer = new Answer(memory);
    this.#decider = decider;
    this.#host = host;
  }

  /** Makes run() return before the next event. Tracees that stop meanwhile wait. */
  pause(): void {
    this.#pausing = true;
  }

  run(): LoopEnd {
    this.#pausing = false;
    while (!this.#pausing) {
      const kind = this.#native.next();
      if (kind < 0)
        throw new HermesError("SUPERVISOR", { message: `waiting failed: ${errnoName(-kind) ?? kind}` });
      switch (kind) {
        case KIND.over:
          return "over";
        case KIND.woken:
          this.#host.attend();
          this.#releaseDue();
          break;
        case KIND.mainExit:
          this.#host.mainExited(this.#stop.result);
          break;
        case KIND.mainStop:
          this.#host.mainStopped(this.#stop.result);
          break;
        default: {
          const hold = this.#decider.handle(kind);
          if (hold > 0) this.#hold(hold);
        }
      }
    }
    return "paused";
  }

  #hold(milliseconds: number): void {
    const { door, kind, tid, id, result, nr } = this.#stop;
    const args = Uint8Array.from(this.#stop.rawArguments);
    this.#held.push({ door, kind, tid, id, result, nr, args, due: performance.now() + milliseconds });
    this.#setDeadline();
  }

  #setDeadline(): void {
    const next = Math.min(...this.#held.map((held) => held.due));
    this.#native.deadline(this.#held.length === 0 ? 0 : Math.max(1, Math.ceil(next - performance.now())));
  }

  #releaseDue(): void {
    if (this.#held.length === 0) return;
    const now = performance.now();
    const due = this.#held.filter((held) => held.due <= now);
    if (due.length === 0) return;
    this.#held = this.#held.filter((held) => held.due > now);
    for (const { door, kind, tid, id, result, nr, args } of due) {
      if (!this.#decider.release(tid)) this.#answer.begin(ANSWER.continue);
      this.#native.resume(door, kind, tid, id, result, nr, args);
    }
    this.#setDeadline();
  }
}
