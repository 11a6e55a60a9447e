import type { HeaderRecord, TraceRecord } from "./records.js";
import { TraceFile } from "./trace-file.js";
import { traceParts } from "./trace-parts.js";

export interface ReadOptions {
  /** Seconds since 1970: only what happened from then on. Other blocks of a binary trace are not even unpacked. */
  readonly from?: number;
  readonly to?: number;
}

/**
 * Reads a trace of any form: JSON lines or binary, compressed or not, in one file or in parts. Holds one block of it at a
 * time. `-` is stdin.
 *
 *     const trace = new TraceReader("t.jsonl");
 *     for await (const records of trace.blocks()) for (const record of records) …
 */
export class TraceReader {
  readonly file: string;
  readonly #from: number;
  readonly #to: number;
  #header: HeaderRecord | undefined;
  #ended = false;
  #cut: string | undefined;
  #missingParts = 0;

  constructor(
    file: string,
    { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }: ReadOptions = {},
  ) {
    this.file = file;
    this.#from = from;
    this.#to = to;
  }

  /** Of the first part that there is; known once the first block was read. Hand-made traces may have none. */
  get header(): HeaderRecord | undefined {
    return this.#header;
  }
  /** Whether the run's end was recorded: else it was killed, or it still runs. */
  get ended(): boolean {
    return this.#ended;
  }
  /** Where and how the trace breaks off, if it does so inside a record. */
  get cut(): string | undefined {
    return this.#cut;
  }
  /** Parts that are no longer there: only the last ones were to be kept. */
  get missingParts(): number {
    return this.#missingParts;
  }

  /** The records in the order in which they were written, many at a time. Headers of later parts are left out. */
  async *blocks(): AsyncGenerator<TraceRecord[]> {
    const { files, missing } = await traceParts(this.file);
    this.#missingParts = missing;
    for (const name of files) {
      const file = new TraceFile(name, { from: this.#from, to: this.#to });
      for await (const records of file.blocks()) yield records.filter((record) => this.#note(record));
      this.#cut ??= file.cut;
    }
  }

  #note(record: TraceRecord): boolean {
    if (record.kind === "end") this.#ended = true;
    if (record.kind === "header") {
      if (this.#header) return false;
      this.#header = record;
      return true;
    }
    return record.time >= this.#from && record.time <= this.#to;
  }
}

/** Every record of a trace, one after the other. Resolves to the reader, which knows how the trace ended. */
export async function readTrace(
  file: string,
  take: (record: TraceRecord) => void,
  options: ReadOptions = {},
): Promise<TraceReader> {
  const reader = new TraceReader(file, options);
  for await (const records of reader.blocks()) for (const record of records) take(record);
  return reader;
}
