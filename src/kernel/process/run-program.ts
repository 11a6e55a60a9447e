import { readLink, readStat } from "./proc.js";

/** No agent is so deep; a chain that is longer counts as unknown. */
const MAX_DEPTH = 256;

/**
 * The process with which the run began. Parents are read anew each time: an orphan gets another parent, and then
 * its line does not lead here any more. It never becomes a child of the program again.
 */
export class RunProgram {
  readonly #pid: number;
  /** Tells it from a later process with the same number. */
  readonly #start: number | undefined;

  constructor(pid: number) {
    this.#pid = pid;
    this.#start = readStat(pid)?.start;
  }

  get #isThere(): boolean {
    const stat = readStat(this.#pid);
    return stat !== undefined && stat.start === this.#start && stat.state !== "Z";
  }

  /** The file that it executes now; empty when it has ended. */
  get exe(): string {
    return this.#isThere ? readLink(`/proc/${this.#pid}/exe`) : "";
  }

  /** 0: the program itself, 1: its children. Undefined where no line leads to it. */
  depthOf(pid: number): number | undefined {
    for (let at = pid, depth = 0; at > 1 && depth < MAX_DEPTH; depth++) {
      if (at === this.#pid) return this.#isThere ? depth : undefined;
      at = readStat(at)?.parent ?? 0;
    }
    return undefined;
  }
}
