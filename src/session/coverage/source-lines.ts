import type { LineRange, LineRow } from "./lines.js";
import type { CodePart } from "./module.js";

interface SourceLine {
  readonly file: string;
  readonly line: number;
}

/** Which lines of the source a stretch of code comes from. */
export class SourceLines {
  readonly #rows: readonly LineRow[];

  constructor(ranges: readonly LineRange[]) {
    this.#rows = ranges
      .flatMap(({ rows }) => rows)
      .filter(({ isStatement, line, file }) => isStatement && line > 0 && file !== "")
      .sort((a, b) => a.address - b.address);
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  /** The lines of which a statement begins in it. */
  placesOf({ address, size }: CodePart): readonly (SourceLine & { readonly address: number })[] {
    const places: LineRow[] = [];
    for (let i = this.#first(address); i < this.#rows.length; i++) {
      const row = this.#rows[i]!;
      if (row.address >= address + size) break;
      places.push(row);
    }
    return places;
  }

  /** Where in it lines begin. */
  addressesIn(part: CodePart): number[] {
    return [...new Set(this.placesOf(part).map(({ address }) => address))];
  }

  #first(address: number): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#rows[middle]!.address < address) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
