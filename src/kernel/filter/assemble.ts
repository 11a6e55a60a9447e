import { type Branch, type FilterDecision, WHOLE_WORD } from "./decision.js";
import { FilterTooLarge } from "./errors.js";
import { BPF_OP, type Instruction, MAX_BRANCH, MAX_INSTRUCTIONS } from "./instruction.js";

/** Where in its block a jump lands. This depends on the content of the accumulator at the jump. */
type Entrance = "load" | "mask" | "test";

const BRANCH_CODE = { eq: BPF_OP.JEQ, ge: BPF_OP.JGE, set: BPF_OP.JSET } as const;

/**
 * Lays a decision out as a program.
 *
 * A branch is a block of up to three instructions, `load word; and mask; test`. A jump from a test of the
 * same word skips the load. So a word is loaded again only where the accumulator holds another one.
 */
export function assemble(root: FilterDecision): Instruction[] {
  const blocks = childrenFirst(root);
  const entrances = entrancesOf(blocks, root);
  const layout = new Layout();
  for (const block of blocks) {
    if (block.kind === "return") layout.placeReturn(block);
    else layout.placeBranch(block, entrances.get(block)!);
  }
  if (layout.length > MAX_INSTRUCTIONS) throw new FilterTooLarge(layout.length, MAX_INSTRUCTIONS);
  return layout.program();
}

/**
 * Builds the program from its end to its start: a block's jump targets lie behind it, so they are placed
 * first.
 */
class Layout {
  readonly #reversed: Instruction[] = [];
  /** The nearest place from which a jump reaches an entrance, counted from the end. */
  readonly #places = new Map<string, number>();

  get length(): number {
    return this.#reversed.length;
  }

  program(): Instruction[] {
    return this.#reversed.toReversed();
  }

  placeReturn(decision: FilterDecision): void {
    this.#place(decision, "load", {
      code: BPF_OP.RETURN,
      jt: 0,
      jf: 0,
      k: (decision as { value: number }).value,
    });
  }

  placeBranch(branch: Branch, entrances: ReadonlySet<Entrance>): void {
    const targets = [branch.yes, branch.no].map((to) => ({ to, entrance: entranceAfter(branch, to) }));
    // A trampoline moves the other target one instruction away. So check both until both are near.
    while (targets.some(({ to, entrance }) => this.#bringNear(to, entrance)));
    const [jt, jf] = targets.map(({ to, entrance }) => this.#distance(to, entrance));
    this.#place(branch, "test", { code: BRANCH_CODE[branch.test], jt: jt!, jf: jf!, k: branch.k });
    const masks = branch.mask !== WHOLE_WORD;
    if (masks && (entrances.has("mask") || entrances.has("load"))) {
      this.#place(branch, "mask", { code: BPF_OP.AND, jt: 0, jf: 0, k: branch.mask });
    }
    if (entrances.has("load")) {
      this.#place(branch, "load", { code: BPF_OP.LOAD_WORD, jt: 0, jf: 0, k: branch.offset });
    }
  }

  /** Places a trampoline here if an 8-bit offset cannot reach the target. */
  #bringNear(to: FilterDecision, entrance: Entrance): boolean {
    const distance = this.#distance(to, entrance);
    if (distance <= MAX_BRANCH) return false;
    if (to.kind === "return") this.placeReturn(to);
    else this.#place(to, entrance, { code: BPF_OP.JUMP, jt: 0, jf: 0, k: distance });
    return true;
  }

  /** The offset that a jump placed next would need. */
  #distance(to: FilterDecision, entrance: Entrance): number {
    return this.length - 1 - this.#places.get(placeKey(to, entrance))!;
  }

  #place(decision: FilterDecision, entrance: Entrance, instruction: Instruction): void {
    this.#places.set(placeKey(decision, entrance), this.length);
    this.#reversed.push(instruction);
  }
}

const placeKey = ({ id }: FilterDecision, entrance: Entrance): string => `${id} ${entrance}`;

function entranceAfter(from: Branch, to: FilterDecision): Entrance {
  if (to.kind === "return" || from.offset !== to.offset) return "load";
  if (from.mask === to.mask) return "test";
  // Masking again with a subset of the bits gives the same value as masking the whole word.
  return (from.mask & to.mask) >>> 0 === to.mask >>> 0 ? "mask" : "load";
}

function entrancesOf(
  blocks: readonly FilterDecision[],
  root: FilterDecision,
): Map<FilterDecision, Set<Entrance>> {
  const entrances = new Map<FilterDecision, Set<Entrance>>(blocks.map((block) => [block, new Set()]));
  entrances.get(root)!.add("load");
  for (const block of blocks) {
    if (block.kind === "return") continue;
    for (const to of [block.yes, block.no]) entrances.get(to)!.add(entranceAfter(block, to));
  }
  return entrances;
}

/** Every decision once, children first. Not recursive: a policy that is too large may be very deep. */
function childrenFirst(root: FilterDecision): FilterDecision[] {
  const ordered: FilterDecision[] = [];
  const placed = new Set<FilterDecision>();
  const pending: FilterDecision[] = [root];
  while (pending.length > 0) {
    const decision = pending.at(-1)!;
    const waiting =
      decision.kind === "branch" ? [decision.no, decision.yes].filter((to) => !placed.has(to)) : [];
    if (placed.has(decision) || waiting.length === 0) {
      pending.pop();
      if (!placed.has(decision)) ordered.push(decision);
      placed.add(decision);
    } else {
      // `yes` is on top and so is placed first: it lies behind `no`, in ascending order of the values.
      pending.push(...waiting);
    }
  }
  return ordered;
}
