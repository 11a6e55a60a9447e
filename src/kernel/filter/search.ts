import type { DecisionGraph, FilterDecision } from "./decision.js";

/** This decision holds from this value of a word up to the next piece. */
export interface WordPiece {
  from: number;
  decision: FilterDecision;
}

/**
 * A balanced search for the piece that a word falls into. The pieces ascend and the first starts at 0.
 */
export function searchWord(
  graph: DecisionGraph,
  offset: number,
  pieces: readonly WordPiece[],
): FilterDecision {
  const merged = pieces.filter((piece, i) => i === 0 || piece.decision !== pieces[i - 1]!.decision);
  return new WordSearch(graph, offset, merged).among(0, merged.length);
}

class WordSearch {
  readonly #graph: DecisionGraph;
  readonly #offset: number;
  readonly #pieces: readonly WordPiece[];

  constructor(graph: DecisionGraph, offset: number, pieces: readonly WordPiece[]) {
    this.#graph = graph;
    this.#offset = offset;
    this.#pieces = pieces;
  }

  /** Decides among the pieces first .. end-1. The word is known to be in one of them. */
  among(first: number, end: number): FilterDecision {
    const only = this.#decision(first);
    if (end - first === 1) return only;
    const exceptions = this.#exceptions(first, end);
    if (exceptions) return this.#compareEach(exceptions);

    const middle = (first + end) >> 1;
    const inside = [middle, middle - 1, middle + 1].find((at) => this.#isBackground(at, first, end));
    if (inside !== undefined) {
      // Both halves keep an end of the background piece, and so can compare the single values in it.
      const cut = this.#pieces[inside + 1]!.from - 1;
      return this.#atLeast(cut, this.among(inside, end), this.among(first, inside + 1));
    }
    return this.#atLeast(this.#pieces[middle]!.from, this.among(middle, end), this.among(first, middle));
  }

  /**
   * At most two single values in one background (`a X a`, `a X a Y a`) are compared for equality: as deep as
   * a search by order, with half the tests.
   */
  #exceptions(first: number, end: number): { background: FilterDecision; single: WordPiece[] } | undefined {
    const length = end - first;
    if (length !== 3 && length !== 5) return undefined;
    const background = this.#decision(first);
    const single: WordPiece[] = [];
    for (let at = first; at < end; at++) {
      if ((at - first) % 2 === 0) {
        if (this.#decision(at) !== background) return undefined;
      } else {
        if (!this.#isSingle(at)) return undefined;
        single.push(this.#pieces[at]!);
      }
    }
    return { background, single };
  }

  #compareEach({ background, single }: { background: FilterDecision; single: WordPiece[] }): FilterDecision {
    return single.reduceRight(
      (otherwise, { from, decision }) => this.#graph.branch(this.#offset, "eq", from, decision, otherwise),
      background,
    );
  }

  /** A wide piece that continues after a single value, inside the stretch and not at its ends. */
  #isBackground(at: number, first: number, end: number): boolean {
    if (at - 2 < first || at + 2 >= end || this.#isSingle(at)) return false;
    const alike = (other: number, between: number) =>
      this.#isSingle(between) && this.#decision(other) === this.#decision(at);
    return alike(at - 2, at - 1) && alike(at + 2, at + 1);
  }

  #atLeast(k: number, yes: FilterDecision, no: FilterDecision): FilterDecision {
    return this.#graph.branch(this.#offset, "ge", k, yes, no);
  }

  #isSingle(at: number): boolean {
    const last = at + 1 < this.#pieces.length ? this.#pieces[at + 1]!.from - 1 : 0xffffffff;
    return this.#pieces[at]!.from === last;
  }

  #decision(at: number): FilterDecision {
    return this.#pieces[at]!.decision;
  }
}
