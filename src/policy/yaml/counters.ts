import type { CallEvent } from "../../event.js";
import { occurrences, type When } from "../faults.js";
import { Budget, type Rate } from "../match/rate.js";
import type { Counter } from "./rule.js";

/** Which of the matching calls. What comes next is drawn before it is asked for, so that looking does not count. */
export class Occasions implements Counter {
  readonly key = "when";
  readonly #draw: () => boolean;
  #next: boolean | undefined;

  constructor(when: When) {
    this.#draw = occurrences(when);
  }

  peek(): boolean {
    this.#next ??= this.#draw();
    return this.#next;
  }

  take(): boolean {
    const hit = this.peek();
    this.#next = undefined;
    return hit;
  }
}

/** A budget of calls: a rule that allows holds within it, any other beyond it. */
export class Spending implements Counter {
  readonly key = "rate";
  readonly #budget: Budget;
  readonly #within: boolean;

  constructor(rate: Rate, within: boolean) {
    this.#budget = new Budget(rate);
    this.#within = within;
  }

  peek({ time }: CallEvent): boolean {
    return this.#budget.left(time) === this.#within;
  }

  take({ time }: CallEvent): boolean {
    return this.#budget.take(time) === this.#within;
  }
}
