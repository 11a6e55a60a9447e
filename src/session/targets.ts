import { formatAddress } from "../nouns/address.js";
import type { CallEvent } from "../nouns/event.js";

/** What decisions of one kind were about, and how often. */
export interface TargetCount {
  readonly target: string;
  readonly count: number;
}

const LONGEST = 300;
/** Of one kind of decision. */
const MOST = 100;
/** After so many decisions of one kind, its targets are no longer looked up. */
const MOST_LOOKED_UP = 10_000;

/** Limits the memory that the targets of a session take together: a hostile program can make up ever new ones. */
export class TargetBudget {
  left = 10_000;
}

/** The targets of one kind of decision. */
export class Targets {
  readonly #budget: TargetBudget;
  readonly #counts = new Map<string, number>();
  #lookedUp = 0;
  /** Decisions whose target is not listed. */
  unlisted = 0;

  constructor(budget: TargetBudget) {
    this.#budget = budget;
  }

  add(look: () => string | undefined): void {
    const target = this.#lookedUp++ < MOST_LOOKED_UP ? look()?.slice(0, LONGEST) : undefined;
    const known = target === undefined ? undefined : this.#counts.get(target);
    if (target === undefined) this.unlisted++;
    else if (known !== undefined) this.#counts.set(target, known + 1);
    else if (this.#counts.size < MOST && this.#budget.left-- > 0) this.#counts.set(target, 1);
    else this.unlisted++;
  }

  get list(): TargetCount[] {
    return [...this.#counts].map(([target, count]) => ({ target, count }));
  }
}

/** What a call is about: a command line, an address, paths, what a descriptor refers to. Undefined for nothing of the kind. */
export function targetOf(event: CallEvent): string | undefined {
  try {
    const { argv, address, paths } = event;
    if (argv) return argv.join(" ");
    if (address) return formatAddress(address);
    if (paths.length > 0) return paths.map(({ path }) => path).join(" → ");
    return event.fd?.target;
  } catch {
    return undefined; // memory of the program that cannot be read, which may be why it was refused
  }
}
