import { PatternError } from "./glob.js";

const PER: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3600, day: 86_400 };
const MAX_COUNT = 100_000;

export interface Rate {
  readonly count: number;
  readonly seconds: number;
}

/** `100/minute`. */
export function parseRate(text: string): Rate {
  const match = /^(\d+)\s*\/\s*(\d*)\s*(second|minute|hour|day)s?$/.exec(text.trim());
  const count = Number(match?.[1]);
  const seconds = Number(match?.[2] || 1) * (PER[match?.[3] ?? ""] ?? 0);
  if (!match || seconds === 0)
    throw new PatternError(`"${text}" is not a rate: write 100/minute, 5/second or 10/5minutes`);
  if (count < 1 || count > MAX_COUNT)
    throw new PatternError(`"${text}": a rate counts from 1 to ${MAX_COUNT.toLocaleString("en")}`);
  return { count, seconds };
}

/** At most this many in any window of that length. Refused ones are not counted. */
export class Budget {
  readonly #rate: Rate;
  /** The times of the last `count`, in a ring. */
  readonly #taken: Float64Array;
  #next = 0;

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#taken = new Float64Array(rate.count).fill(Number.NEGATIVE_INFINITY);
  }

  left(time: number): boolean {
    return time - this.#taken[this.#next]! >= this.#rate.seconds;
  }

  take(time: number): boolean {
    if (!this.left(time)) return false;
    this.#taken[this.#next] = time;
    this.#next = (this.#next + 1) % this.#rate.count;
    return true;
  }
}
