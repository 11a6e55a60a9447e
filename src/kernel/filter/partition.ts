import type { Decision, DecisionGraph } from "./decision.js";
import { type IntervalSet, lastOf } from "./interval.js";
import { searchWord, type WordPiece } from "./search.js";
import { highOffset, lowOffset } from "./seccomp-data.js";

interface Piece {
  from: bigint;
  decision: Decision;
}

/** The register argument a partition is about. */
export interface Register {
  arg: number;
  width: 32 | 64;
}

/** Every value of one argument, cut into pieces that are decided alike. */
export class Partition {
  readonly #register: Register;
  readonly #pieces: readonly Piece[];

  private constructor(register: Register, pieces: readonly Piece[]) {
    this.#register = register;
    this.#pieces = pieces;
  }

  static uniform(register: Register, decision: Decision): Partition {
    return new Partition(register, [{ from: 0n, decision }]);
  }

  /** The same partition with the values of a set decided anew, from what was decided there before. */
  paint(set: IntervalSet, anew: (before: Decision) => Decision): Partition {
    const painted: Piece[] = [];
    for (const { from, decision, inside } of this.#overlay(set)) {
      const now = inside ? anew(decision) : decision;
      if (painted.at(-1)?.decision !== now) painted.push({ from, decision: now });
    }
    return new Partition(this.#register, painted);
  }

  /** The decisions now given to the values of a set. */
  decisionsIn(set: IntervalSet): Set<Decision> {
    const found = new Set<Decision>();
    for (const { decision, inside } of this.#overlay(set)) if (inside) found.add(decision);
    return found;
  }

  /** The decision that finds the piece an argument falls into. */
  search(graph: DecisionGraph): Decision {
    const { arg, width } = this.#register;
    if (width === 32) return searchWord(graph, lowOffset(arg), this.#pieces.map(wordPiece));
    return this.#comparePoint(graph) ?? searchWord(graph, highOffset(arg), this.#byHighWord(graph));
  }

  /**
   * One value standing out of all others is compared low word first: the low words are what differs between calls,
   * and the comparison of the high word, mostly with 0, can then be shared by tests for different values.
   */
  #comparePoint(graph: DecisionGraph): Decision | undefined {
    const found = this.#point();
    if (!found) return undefined;
    const { point, others } = found;
    const { low, high } = words(point.from);
    const { arg } = this.#register;
    const highMatches = graph.branch(highOffset(arg), "eq", high, point.decision, others);
    return graph.branch(lowOffset(arg), "eq", low, highMatches, others);
  }

  /** The one value that is decided unlike all others, if the partition is no more than that. */
  #point(): { point: Piece; others: Decision } | undefined {
    const [first, second, third] = this.#pieces;
    if (this.#pieces.length === 2) {
      if (second!.from === 1n) return { point: first!, others: second!.decision };
      if (second!.from === lastOf(64)) return { point: second!, others: first!.decision };
    }
    const isPoint = this.#pieces.length === 3 && third!.from === second!.from + 1n;
    if (!isPoint || first!.decision !== third!.decision) return undefined;
    return { point: second!, others: first!.decision };
  }

  /** The 64-bit pieces as pieces of the high word; where one high word holds several, the low word decides. */
  #byHighWord(graph: DecisionGraph): WordPiece[] {
    const byHigh: WordPiece[] = [];
    let before: Decision | undefined;
    for (let at = 0; at < this.#pieces.length; ) {
      const { high } = words(this.#pieces[at]!.from);
      const lows: WordPiece[] = [];
      for (; at < this.#pieces.length && words(this.#pieces[at]!.from).high === high; at++) {
        const { from, decision } = this.#pieces[at]!;
        lows.push({ from: words(from).low, decision });
      }
      if (lows[0]!.from !== 0) lows.unshift({ from: 0, decision: before! });
      before = lows.at(-1)!.decision;
      if (byHigh.at(-1)?.from === high) byHigh.pop();
      byHigh.push({ from: high, decision: searchWord(graph, lowOffset(this.#register.arg), lows) });
      if (high < 0xffffffff) byHigh.push({ from: high + 1, decision: before });
    }
    return byHigh;
  }

  *#overlay(set: IntervalSet): Generator<Piece & { inside: boolean }> {
    const cuts = this.#pieces.map(({ from }) => from);
    for (const { low, high } of set) cuts.push(low, high + 1n);
    cuts.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const last = lastOf(this.#register.width);
    let piece = 0;
    let interval = 0;
    let previous = -1n;
    for (const from of cuts) {
      if (from === previous || from > last) continue;
      previous = from;
      while (piece + 1 < this.#pieces.length && this.#pieces[piece + 1]!.from <= from) piece++;
      while (interval < set.length && set[interval]!.high < from) interval++;
      const inside = interval < set.length && set[interval]!.low <= from;
      yield { from, decision: this.#pieces[piece]!.decision, inside };
    }
  }
}

const wordPiece = ({ from, decision }: Piece): WordPiece => ({ from: Number(from), decision });

const words = (value: bigint): { low: number; high: number } => ({
  low: Number(BigInt.asUintN(32, value)),
  high: Number(value >> 32n),
});
