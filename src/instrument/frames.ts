/** A call that was seen and whose return somebody waits for. */
export interface Frame {
  /** Where its return address lies on the stack. */
  readonly sp: number;
  readonly returnsTo: number;
  readonly tid: number;
  readonly call: unknown;
  /** What is called: it may end by jumping to another, and both return at once. */
  readonly address: number;
  /** The call that jumped to this one. */
  readonly before?: Frame;
}

/** A stack that deep is being overrun, or its calls were left by other ways than a return. */
const MOST_FRAMES = 65_536;

/**
 * Calls by the place of their return address: no two threads have the same, and a call that is made at the place of
 * another shows that the other is over, however it was left (longjmp, an exception, another context).
 */
export class Frames {
  readonly #bySp = new Map<number, Frame>();

  push(frame: Frame): void {
    const known = this.#bySp.get(frame.sp);
    this.#bySp.delete(frame.sp);
    // The same function again, called from the same place: the other was left. Another one: it was jumped to.
    const jumped = known?.returnsTo === frame.returnsTo && known.address !== frame.address;
    this.#bySp.set(frame.sp, jumped ? { ...frame, before: known } : frame);
    if (this.#bySp.size > MOST_FRAMES) this.#bySp.delete(this.#bySp.keys().next().value!);
  }

  /** The call that has just returned to `returnsTo`, when the stack pointer is `sp`. */
  pop(returnsTo: number, sp: number): Frame | undefined {
    const frame = this.#bySp.get(sp - 8);
    if (frame?.returnsTo !== returnsTo) return undefined;
    this.#bySp.delete(sp - 8);
    return frame;
  }

  /** Whether anybody still waits for a return to that place. Calls of the same thread deeper in the stack are over. */
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

  copy(): Frames {
    const copy = new Frames();
    for (const [sp, frame] of this.#bySp) copy.#bySp.set(sp, frame);
    return copy;
  }
}

/** Within this of one another, two places are taken to be on one stack. */
const NEAR = 1024 * 1024;
