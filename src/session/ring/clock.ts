import { native } from "../../kernel/binding/native.js";

/** Seconds between two comparisons. More frequent ones would only measure their own cost. */
const APART = 0.05;

/**
 * Converts the processor's time stamp counter, which records carry, to wall-clock time. The clocks are
 * compared from time to time; in between, the counter's rate is assumed constant.
 */
export class CycleClock {
  readonly #now = new Float64Array(2);
  readonly #first: { readonly cycles: number; readonly time: number };
  #cycles: number;
  #time: number;
  #period = 0;

  constructor() {
    native().cycles(this.#now);
    [this.#cycles, this.#time] = [this.#now[0]!, this.#now[1]!];
    this.#first = { cycles: this.#cycles, time: this.#time };
  }

  /** Seconds since 1970. */
  time(cycles: number): number {
    if (this.#period === 0) this.compare();
    return this.#time + (cycles - this.#cycles) * this.#period;
  }

  seconds(cycles: number): number {
    return cycles * this.#period;
  }

  compare(): void {
    native().cycles(this.#now);
    const [cycles, time] = [this.#now[0]!, this.#now[1]!];
    if (this.#period !== 0 && time - this.#time < APART) return;
    [this.#cycles, this.#time] = [cycles, time];
    if (cycles > this.#first.cycles) this.#period = (time - this.#first.time) / (cycles - this.#first.cycles);
  }
}
