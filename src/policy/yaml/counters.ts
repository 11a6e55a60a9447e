import type { CallEvent } from "../../nouns/event.js";
import { occurrences, type When } from "../faults.js";
import { Budget, type Rate } from "../match/rate.js";
import type { RuleCounter } from "./rule.js";

/** Selects some of the matching calls. The next draw is made in advance, so that peeking does not count. */
export class Occasions implements RuleCounter {
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

/** A budget of calls: an allowing rule holds within it, any other rule beyond it. */
export class Spending implements RuleCounter {
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
