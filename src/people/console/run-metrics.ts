import { closeSync, openSync, readSync } from "node:fs";
import { type RunRecord, runLogFile } from "../../record/audit/run-log.js";
import type { RunView } from "./runs.js";

const PIECE = 1 << 20;
const ACTIONS = ["deny", "kill", "ask"];

/** Counts what runs were refused since the console was started, from the file that they write (run-log.ts). */
export class RunMetrics {
  readonly #file: string;
  readonly #refusals = new Map(ACTIONS.map((action) => [action, 0]));
  #runs = 0;
  #at = 0;
  #rest = "";

  constructor(file = runLogFile()) {
    this.#file = file;
    this.#at = this.#read(() => {});
  }

  /** Of the runs at work now, and of the refusals that were recorded. */
  numbers(running: readonly RunView[]) {
    this.#at = this.#read((bytes) => this.#take(bytes));
    const paused = running.filter((run) => run.paused).length;
    return {
      running: { '{state="running"}': running.length - paused, '{state="paused"}': paused },
      refusals: Object.fromEntries([...this.#refusals].map(([action, n]) => [`{action="${action}"}`, n])),
      runs: { "": this.#runs },
    };
  }

  /** Reads on from where it was, and returns where it is now. A file that was put aside and begun anew is read from its start. */
  #read(take: (bytes: string) => void): number {
    let fd: number;
    try {
      fd = openSync(this.#file, "r");
    } catch {
      return 0; // no run has been refused anything
    }
    try {
      const bytes = Buffer.alloc(PIECE);
      let at = this.#at;
      if (at > 0 && readSync(fd, bytes, 0, 1, at - 1) === 0) at = 0;
      for (let got = readSync(fd, bytes, 0, PIECE, at); got > 0; got = readSync(fd, bytes, 0, PIECE, at)) {
        take(bytes.toString("latin1", 0, got));
        at += got;
      }
      return at;
    } finally {
      closeSync(fd);
    }
  }

  #take(bytes: string): void {
    const lines = (this.#rest + bytes).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) {
      try {
        const { refused, unlisted } = JSON.parse(line) as RunRecord;
        this.#runs++;
        for (const { action, count } of refused)
          this.#refusals.set(action, (this.#refusals.get(action) ?? 0) + count);
        this.#refusals.set("deny", this.#refusals.get("deny")! + unlisted);
      } catch {
        // A line that is no record counts nothing.
      }
    }
  }
}
