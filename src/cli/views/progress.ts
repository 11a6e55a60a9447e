import { isatty } from "node:tty";
import { say } from "./output.js";

const QUIET_MS = 1000;
const BETWEEN_MS = 200;
/** The clock is read once in so many steps: a step takes less than reading it. */
const STEPS = 256;

/** One line on a terminal for work that takes longer than a second, taken away at the end. Elsewhere nothing. */
export class Progress {
  readonly #what: string;
  readonly #shown: boolean;
  #next: number;
  #count = 0;
  #wrote = false;

  /** `what` is counted: `records`. */
  constructor(what: string, { terminal = isatty(2), now = Date.now() } = {}) {
    this.#what = what;
    this.#shown = terminal;
    this.#next = now + QUIET_MS;
  }

  step(): void {
    if (++this.#count % STEPS !== 0 || !this.#shown) return;
    this.show(`${this.#count.toLocaleString("en")} ${this.#what}`);
  }

  /** At any time: shows the text, unless there was one just before. */
  show(text: string, now = Date.now()): void {
    if (!this.#shown || now < this.#next) return;
    this.#next = now + BETWEEN_MS;
    this.#wrote = true;
    say(`\r\u001b[Khermes: ${text}`);
  }

  clear(): void {
    if (this.#wrote) say("\r\u001b[K");
    this.#wrote = false;
  }
}

/** The same rows, counted as they pass. */
export async function* counting<T>(rows: AsyncIterable<T>, what: string): AsyncGenerator<T> {
  const progress = new Progress(what);
  try {
    for await (const row of rows) {
      progress.step();
      yield row;
    }
  } finally {
    progress.clear();
  }
}
