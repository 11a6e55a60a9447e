/** The end of a decision: the value given to the kernel. */
interface Return {
  kind: "return";
  id: number;
  value: number;
}

type BranchTest = "eq" | "ge" | "set";

/** One question about one word of seccomp_data: `(word & mask) test k`. */
export interface Branch {
  kind: "branch";
  id: number;
  offset: number;
  mask: number;
  test: BranchTest;
  k: number;
  yes: FilterDecision;
  no: FilterDecision;
}

export type FilterDecision = Return | Branch;

export const WHOLE_WORD = 0xffffffff;

/**
 * Creates decisions such that equal ones are the same object. Identical returns, tails and whole syscall
 * blocks are shared, and "treated alike" is `===`.
 */
export class DecisionGraph {
  readonly #known = new Map<string, FilterDecision>();

  return(value: number): Return {
    return this.#once(`return ${value}`, (id) => ({ kind: "return", id, value }));
  }

  branch(
    offset: number,
    test: BranchTest,
    k: number,
    yes: FilterDecision,
    no: FilterDecision,
    mask = WHOLE_WORD,
  ): FilterDecision {
    if (yes === no) return yes;
    const key = `${offset} ${mask} ${test} ${k} ${yes.id} ${no.id}`;
    return this.#once(key, (id) => ({ kind: "branch", id, offset, mask, test, k, yes, no }));
  }

  #once<T extends FilterDecision>(key: string, make: (id: number) => T): T {
    const known = this.#known.get(key);
    if (known) return known as T;
    const made = make(this.#known.size);
    this.#known.set(key, made);
    return made;
  }
}
