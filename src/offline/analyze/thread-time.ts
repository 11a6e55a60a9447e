interface Life {
  from: number;
  to: number;
}

/**
 * How long all threads lived together, as far as a trace shows. Threads wait at the same time, so their waiting is a share
 * of this, and not of the time that passed.
 */
export class ThreadTime {
  readonly #alive = new Map<number, Life>();
  #over = 0;

  /** The thread was there from then until then. */
  saw(tid: number, from: number, to: number): void {
    const life = this.#alive.get(tid);
    if (!life) this.#alive.set(tid, { from, to });
    else {
      if (from < life.from) life.from = from;
      if (to > life.to) life.to = to;
    }
  }

  ended(tid: number, time: number): void {
    const life = this.#alive.get(tid);
    if (!life) return;
    this.#over += Math.max(life.to, time) - life.from;
    this.#alive.delete(tid);
  }

  get seconds(): number {
    let sum = this.#over;
    for (const { from, to } of this.#alive.values()) sum += to - from;
    return sum;
  }
}
