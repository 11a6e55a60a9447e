import type { DecisionGraph, FilterDecision } from "./decision.js";
import { type IntervalSet, lastOf } from "./interval.js";
import { searchWord, type WordPiece } from "./search.js";
import { highOffset, lowOffset } from "./seccomp-data.js";

interface Piece {
  from: bigint;
  decision: FilterDecision;
}

/** The register argument a partition is about. */
export interface ArgumentRegister {
  arg: number;
  width: 32 | 64;
}

/** Every value of one argument, cut into pieces that are decided alike. */
export class Partition {
  readonly #register: ArgumentRegister;
  readonly #pieces: readonly Piece[];

  private constructor(register: ArgumentRegister, pieces: readonly Piece[]) {
    this.#register = register;
    this.#pieces = pieces;
  }

  static uniform(register: ArgumentRegister, decision: FilterDecision): Partition {
    return new Partition(register, [{ from: 0n, decision }]);
  }

  /** The same partition, with the decisions for a set of values replaced. */
  paint(set: IntervalSet, anew: (before: FilterDecision) => FilterDecision): Partition {
    const painted: Piece[] = [];
    for (const { from, decision, inside } of this.#overlay(set)) {
      const now = inside ? anew(decision) : decision;
      if (painted.at(-1)?.decision !== now) painted.push({ from, decision: now });
    }
    return new Partition(this.#register, painted);
  }

  /** The decisions now given to the values of a set. */
  decisionsIn(set: IntervalSet): Set<FilterDecision> {
    const found = new Set<FilterDecision>();
    for (const { decision, inside } of this.#overlay(set)) if (inside) found.add(decision);
    return found;
  }

  /** The decision that finds the piece an argument falls into. */
  search(graph: DecisionGraph): FilterDecision {
    const { arg, width } = this.#register;
    if (width === 32) return searchWord(graph, lowOffset(arg), this.#pieces.map(wordPiece));
    return this.#comparePoint(graph) ?? searchWord(graph, highOffset(arg), this.#byHighWord(graph));
  }

  /**
   * A partition with one special value compares the low word first. Low words differ most between calls, and
   * tests for different values can share the comparison of the high word, which is mostly 0.
   */
  #comparePoint(graph: DecisionGraph): FilterDecision | undefined {
    const found = this.#point();
    if (!found) return undefined;
    const { point, others } = found;
    const { low, high } = words(point.from);
    const { arg } = this.#register;
    const highMatches = graph.branch(highOffset(arg), "eq", high, point.decision, others);
    return graph.branch(lowOffset(arg), "eq", low, highMatches, others);
  }

  /** The one special value, if the partition has exactly one. */
  #point(): { point: Piece; others: FilterDecision } | undefined {
    const [first, second, third] = this.#pieces;
    if (this.#pieces.length === 2) {
      if (second!.from === 1n) return { point: first!, others: second!.decision };
      if (second!.from === lastOf(64)) return { point: second!, others: first!.decision };
    }
    const isPoint = this.#pieces.length === 3 && third!.from === second!.from + 1n;
    if (!isPoint || first!.decision !== third!.decision) return undefined;
    return { point: second!, others: first!.decision };
  }

  /** The 64-bit pieces as pieces of the high word. Where several share a high word, the low word decides. */
  #byHighWord(graph: DecisionGraph): WordPiece[] {
    const byHigh: WordPiece[] = [];
    let before: FilterDecision | undefined;
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
