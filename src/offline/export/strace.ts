import type { TraceRecord } from "../../record/trace/records.js";
import { StraceEncoder } from "../../record/trace/strace-encoder.js";
import { type CallSelection, type Exporter, isUndecided } from "./exporter.js";

/** As `strace -f -y -ttt -T -o` would have written it. */
export class StraceExporter implements Exporter {
  readonly #calls: CallSelection;
  readonly #encoder = new StraceEncoder({
    descriptors: true,
    strings: 64,
    time: "epoch",
    elapsed: true,
    pids: "file",
    colour: false,
  });

  constructor(calls: CallSelection) {
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
