import { type Branch, type Decision, WHOLE_WORD } from "./decision.js";
import { FilterTooLarge } from "./errors.js";
import { type Instruction, MAX_BRANCH, MAX_INSTRUCTIONS, OP } from "./instruction.js";

/** What the accumulator holds when a branch is entered decides where in its block the jump lands. */
type Entrance = "load" | "mask" | "test";

const BRANCH_CODE = { eq: OP.JEQ, ge: OP.JGE, set: OP.JSET } as const;

/**
 * Lays a decision out as a program.
 *
 * A branch is a block of up to three instructions, `load word; and mask; test`. One that comes from a test of
 * the same word jumps past the load, so a word is loaded again only where the accumulator holds another.
 */
export function assemble(root: Decision): Instruction[] {
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

/** The program from its end to its start: whatever a block jumps to lies behind it and is placed before it. */
class Layout {
  readonly #reversed: Instruction[] = [];
  /** Where to jump to get to an entrance: the place nearest to the front, counted from the end. */
  readonly #places = new Map<string, number>();

  get length(): number {
    return this.#reversed.length;
  }

  program(): Instruction[] {
    return this.#reversed.toReversed();
  }

  placeReturn(decision: Decision): void {
    this.#place(decision, "load", {
      code: OP.RETURN,
      jt: 0,
      jf: 0,
      k: (decision as { value: number }).value,
    });
  }

  placeBranch(branch: Branch, entrances: ReadonlySet<Entrance>): void {
    const targets = [branch.yes, branch.no].map((to) => ({ to, entrance: entranceAfter(branch, to) }));
    // A trampoline moves the other target away by one, so both are looked at until both are near.
    while (targets.some(({ to, entrance }) => this.#bringNear(to, entrance)));
    const [jt, jf] = targets.map(({ to, entrance }) => this.#distance(to, entrance));
    this.#place(branch, "test", { code: BRANCH_CODE[branch.test], jt: jt!, jf: jf!, k: branch.k });
    const masks = branch.mask !== WHOLE_WORD;
    if (masks && (entrances.has("mask") || entrances.has("load"))) {
      this.#place(branch, "mask", { code: OP.AND, jt: 0, jf: 0, k: branch.mask });
    }
    if (entrances.has("load")) {
      this.#place(branch, "load", { code: OP.LOAD_WORD, jt: 0, jf: 0, k: branch.offset });
    }
  }

  /** Puts a stepping stone here if the target is out of reach of an 8-bit offset. */
  #bringNear(to: Decision, entrance: Entrance): boolean {
    const distance = this.#distance(to, entrance);
    if (distance <= MAX_BRANCH) return false;
    if (to.kind === "return") this.placeReturn(to);
    else this.#place(to, entrance, { code: OP.JUMP, jt: 0, jf: 0, k: distance });
    return true;
  }

  /** The offset that a jump placed next would need. */
  #distance(to: Decision, entrance: Entrance): number {
    return this.length - 1 - this.#places.get(placeKey(to, entrance))!;
  }

  #place(decision: Decision, entrance: Entrance, instruction: Instruction): void {
    this.#places.set(placeKey(decision, entrance), this.length);
    this.#reversed.push(instruction);
  }
}

const placeKey = ({ id }: Decision, entrance: Entrance): string => `${id} ${entrance}`;

function entranceAfter(from: Branch, to: Decision): Entrance {
  if (to.kind === "return" || from.offset !== to.offset) return "load";
  if (from.mask === to.mask) return "test";
  // Masking again with fewer bits gives the same as masking the whole word with them.
  return (from.mask & to.mask) >>> 0 === to.mask >>> 0 ? "mask" : "load";
}

function entrancesOf(blocks: readonly Decision[], root: Decision): Map<Decision, Set<Entrance>> {
  const entrances = new Map<Decision, Set<Entrance>>(blocks.map((block) => [block, new Set()]));
  entrances.get(root)!.add("load");
  for (const block of blocks) {
    if (block.kind === "return") continue;
    for (const to of [block.yes, block.no]) entrances.get(to)!.add(entranceAfter(block, to));
  }
  return entrances;
}

/** Every decision once, after the ones it leads to. Not recursive: a refused policy may be very deep. */
function childrenFirst(root: Decision): Decision[] {
  const ordered: Decision[] = [];
  const placed = new Set<Decision>();
  const pending: Decision[] = [root];
  while (pending.length > 0) {
    const decision = pending.at(-1)!;
    const waiting =
      decision.kind === "branch" ? [decision.no, decision.yes].filter((to) => !placed.has(to)) : [];
    if (placed.has(decision) || waiting.length === 0) {
      pending.pop();
      if (!placed.has(decision)) ordered.push(decision);
      placed.add(decision);
    } else {
      // `yes` is on top and so placed first: it comes to lie behind `no`, in ascending order of the values.
      pending.push(...waiting);
    }
  }
  return ordered;
}
