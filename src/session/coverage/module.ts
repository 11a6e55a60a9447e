import type { SourceLines } from "./source-lines.js";

/** A stretch of code, by its address in the file. */
export interface CodePart {
  readonly address: number;
  readonly size: number;
}

export interface CoveredFunction extends CodePart {
  readonly name: string;
  /** In order; the first begins where the function does. */
  readonly blocks: readonly CodePart[];
}

/** A file with code, and what was run of it in all the processes that had it. */
export class CoveredModule {
  readonly #hits = new Map<number, number>();

  constructor(
    readonly path: string,
    readonly buildId: string | undefined,
    readonly functions: readonly CoveredFunction[],
    readonly lines: SourceLines,
    /** What of it is not looked at, and why. */
    readonly left: string | undefined,
  ) {}

  hit(address: number, times = 1): void {
    this.#hits.set(address, (this.#hits.get(address) ?? 0) + times);
  }

  hits(address: number): number {
    return this.#hits.get(address) ?? 0;
  }
}
