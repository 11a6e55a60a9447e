/** The end of a decision: the value given to the kernel. */
export interface Return {
  kind: "return";
  id: number;
  value: number;
}

export type BranchTest = "eq" | "ge" | "set";

/** One question about one word of seccomp_data: `(word & mask) test k`. */
export interface Branch {
  kind: "branch";
  id: number;
  offset: number;
  mask: number;
  test: BranchTest;
  k: number;
  yes: Decision;
  no: Decision;
}

export type Decision = Return | Branch;

export const WHOLE_WORD = 0xffffffff;

/**
 * Makes decisions so that equal ones are the same object: identical returns, tails and whole syscall
 * blocks are shared by construction, and "treated alike" is `===`.
 */
export class DecisionGraph {
  readonly #known = new Map<string, Decision>();

  return(value: number): Return {
    return this.#once(`return ${value}`, (id) => ({ kind: "return", id, value }));
  }

  branch(
    offset: number,
    test: BranchTest,
    k: number,
    yes: Decision,
    no: Decision,
    mask = WHOLE_WORD,
  ): Decision {
    if (yes === no) return yes;
    const key = `${offset} ${mask} ${test} ${k} ${yes.id} ${no.id}`;
    return this.#once(key, (id) => ({ kind: "branch", id, offset, mask, test, k, yes, no }));
  }

  #once<T extends Decision>(key: string, make: (id: number) => T): T {
    const known = this.#known.get(key);
    if (known) return known as T;
    const made = make(this.#known.size);
    this.#known.set(key, made);
    return made;
  }
}
