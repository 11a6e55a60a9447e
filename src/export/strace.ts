import type { TraceRecord } from "../trace/records.js";
import { StraceEncoder } from "../trace/strace-encoder.js";
import { type Calls, type Exporter, isUndecided } from "./exporter.js";

/** As `strace -f -y -ttt -T -o` would have written it. */
export class StraceExporter implements Exporter {
  readonly #calls: Calls;
  readonly #encoder = new StraceEncoder({
    descriptors: true,
    strings: 64,
    time: "epoch",
    elapsed: true,
    pids: "file",
    colour: false,
  });

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  add(record: TraceRecord): string {
    if (this.#calls === "decided" && isUndecided(record)) return "";
    this.#encoder.add(record);
    return this.#encoder.take().toString();
  }

  end(): string {
    return this.#encoder.finish().toString();
  }
}
