import { native } from "../kernel/native.js";

/** Looking again more often would measure the looking. */
const APART = 0.05;

/**
 * The time of day for a count of the processor's own clock, which is what records carry. The two are compared now and
 * then; between, the one is taken to run as fast as it did so far.
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
