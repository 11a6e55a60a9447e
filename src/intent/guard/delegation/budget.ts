/**
 * How many steps an agent and all its delegates may still take together. The counter is in memory that threads share;
 * each step is one atomic compare-and-exchange, so no race can take the last step twice.
 */
export class IterationBudget {
  readonly #left: Int32Array;

  private constructor(memory: SharedArrayBuffer) {
    this.#left = new Int32Array(memory);
  }

  static of(steps: number): IterationBudget {
    if (!Number.isInteger(steps) || steps < 0 || steps > 0x7fffffff)
      throw new RangeError(`not a number of steps: ${steps}`);
    const budget = new IterationBudget(new SharedArrayBuffer(4));
    Atomics.store(budget.#left, 0, steps);
    return budget;
  }

  /** The same budget in another thread, from the shared `memory`. */
  static shared(memory: SharedArrayBuffer): IterationBudget {
    return new IterationBudget(memory);
  }

  get memory(): SharedArrayBuffer {
    return this.#left.buffer as SharedArrayBuffer;
  }

  get left(): number {
    return Atomics.load(this.#left, 0);
  }

  /** Takes all of these steps if that many are left, else none. */
  take(steps = 1): boolean {
    if (!Number.isInteger(steps) || steps < 1) return false;
    for (;;) {
      const left = Atomics.load(this.#left, 0);
      if (left < steps) return false;
      if (Atomics.compareExchange(this.#left, 0, left, left - steps) === left) return true;
    }
  }
}
