/** A call whose return is awaited. */
export interface AwaitedCall {
  /** The stack address of its return address. */
  readonly sp: number;
  readonly returnsTo: number;
  readonly tid: number;
  readonly call: unknown;
  /** The called function. It may end by a jump to another function, and then both return at once. */
  readonly address: number;
  /** The call that jumped to this one. */
  readonly before?: AwaitedCall;
}

/** A deeper stack is overflowing, or its calls ended without a return. */
const MOST_FRAMES = 65_536;

/**
 * Pending calls by the stack address of their return address: no two threads share one. A new call at the
 * same stack address shows that the old call has ended, by longjmp, an exception or a context switch.
 */
export class AwaitedCalls {
  readonly #bySp = new Map<number, AwaitedCall>();

  push(frame: AwaitedCall): void {
    const known = this.#bySp.get(frame.sp);
    this.#bySp.delete(frame.sp);
    // The same function from the same place: the older call was abandoned. Another function: a tail call.
    const jumped = known?.returnsTo === frame.returnsTo && known.address !== frame.address;
    this.#bySp.set(frame.sp, jumped ? { ...frame, before: known } : frame);
    if (this.#bySp.size > MOST_FRAMES) this.#bySp.delete(this.#bySp.keys().next().value!);
  }

  /** The call that has just returned to `returnsTo`, with the stack pointer at `sp`. */
  pop(returnsTo: number, sp: number): AwaitedCall | undefined {
    const frame = this.#bySp.get(sp - 8);
    if (frame?.returnsTo !== returnsTo) return undefined;
    this.#bySp.delete(sp - 8);
    return frame;
  }

  /**
   * True when a return to that address is still awaited. Calls of the same thread deeper in the stack have
   * ended.
   */
  awaited(returnsTo: number, tid: number, sp: number): boolean {
    let awaited = false;
    for (const frame of this.#bySp.values()) {
      if (frame.returnsTo !== returnsTo) continue;
      if (frame.tid === tid && frame.sp < sp && sp - frame.sp < NEAR) this.#bySp.delete(frame.sp);
      else awaited = true;
    }
    return awaited;
  }

  exited(tid: number): void {
    for (const frame of this.#bySp.values()) if (frame.tid === tid) this.#bySp.delete(frame.sp);
  }

  copy(): AwaitedCalls {
    const copy = new AwaitedCalls();
    for (const [sp, frame] of this.#bySp) copy.#bySp.set(sp, frame);
    return copy;
  }
}

/** Two stack addresses this close are assumed to be on the same stack. */
const NEAR = 1024 * 1024;
