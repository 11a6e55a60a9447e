import { errnoName } from "../abi/index.js";
import { ANSWER, DOOR, KIND } from "../kernel/binding/layout.js";
import type { Native } from "../kernel/binding/native.js";
import { Stop, StopAnswer } from "../kernel/binding/stop.js";
import { HermesError } from "../nouns/errors.js";

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
  takeOrders(): void;
}

/** How often to see whether those who wait are still there. */
const LOOK_MS = 250;

/** Something to be done now and then while the program runs, although nothing stops. */
export interface PeriodicTask {
  readonly every: number;
  tick(): void;
}

/** Why the loop returned: no process is left, or it was asked to let something else have the thread for a moment. */
type LoopEnd = "over" | "paused";

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
  readonly #answer: StopAnswer;
  readonly #decider: Decider;
  readonly #host: LoopHost;
  readonly #ticking: PeriodicTask | undefined;
  #held: Held[] = [];
  #pausing = false;

  constructor(
    native: Native,
    memory: ArrayBufferLike,
    decider: Decider,
    host: LoopHost,
    ticking?: PeriodicTask,
  ) {
    this.#native = native;
    this.#stop = new Stop(memory);
    this.#answer = new StopAnswer(memory);
    this.#decider = decider;
    this.#host = host;
    this.#ticking = ticking;
  }

  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  /** Makes run() return before the next event. Tracees that stop meanwhile wait. */
  pause(): void {
    this.#pausing = true;
  }

  run(): LoopEnd {
    this.#pausing = false;
    if (this.#ticking) this.#setDeadline();
    while (!this.#pausing) {
      const kind = this.#native.next();
      if (kind < 0)
        throw new HermesError("SUPERVISOR", { message: `waiting failed: ${errnoName(-kind) ?? kind}` });
      switch (kind) {
        case KIND.over:
          return "over";
        case KIND.woken:
          this.#host.takeOrders();
          this.#releaseDue();
          this.#tick();
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
          // Its number may belong to another soon.
          if (kind === KIND.exit) this.#held = this.#held.filter((held) => held.tid !== this.#stop.tid);
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

  /** These are decided: they need not wait for their time. */
  release(tids: readonly number[]): void {
    this.#letGo((held) => tids.includes(held.tid));
  }

  releaseAll(): void {
    this.#letGo(() => true);
  }

  #setDeadline(): void {
    const now = performance.now();
    const look = now + Math.min(LOOK_MS, this.#ticking?.every ?? LOOK_MS);
    const next = Math.min(...this.#held.map((held) => held.due), look);
    const isIdle = this.#held.length === 0 && !this.#ticking;
    this.#native.deadline(isIdle ? 0 : Math.max(1, Math.ceil(next - now)));
  }

  #tick(): void {
    if (!this.#ticking) return;
    this.#ticking.tick();
    this.#setDeadline();
  }

  /** Those whose time has come, and those whose caller is gone: nothing is made in the place of a dead one. */
  #releaseDue(): void {
    if (this.#held.length === 0) return;
    const now = performance.now();
    this.#letGo((held) => held.due <= now || (held.door === DOOR.notify && !this.#native.waits(held.id)));
  }

  #letGo(which: (held: Held) => boolean): void {
    const free = this.#held.filter(which);
    this.#held = this.#held.filter((held) => !free.includes(held));
    for (const { door, kind, tid, id, result, nr, args } of free) {
      if (!this.#decider.release(tid)) this.#answer.begin(ANSWER.continue);
      this.#native.resume(door, kind, tid, id, result, nr, args);
    }
    this.#setDeadline();
  }
}
