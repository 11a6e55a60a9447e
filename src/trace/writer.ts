import { closeSync, openSync, writeSync } from "node:fs";
import { HermesError } from "../errors.js";

const BLOCK = 64 * 1024;

/** One JSON object per line, written in blocks. What a full disk or a closed pipe means is for the caller to say. */
export class TraceWriter {
  readonly file: string;
  readonly #fd: number;
  #pending = "";
  #lines = 0;

  constructor(file: string) {
    this.file = file;
    try {
      this.#fd = openSync(file, "w", 0o600);
    } catch (cause) {
      throw new HermesError(
        "TRACE_OPEN",
        { file, errno: (cause as NodeJS.ErrnoException).code ?? String(cause) },
        { cause },
      );
    }
  }

  get lines(): number {
    return this.#lines;
  }

  write(record: object): void {
    this.#pending += `${JSON.stringify(record)}\n`;
    this.#lines++;
    if (this.#pending.length >= BLOCK) this.flush();
  }

  /** Throws TRACE_WRITE; what could not be written is dropped, so that the next call does not meet it again. */
  flush(): void {
    const bytes = Buffer.from(this.#pending);
    this.#pending = "";
    let done = 0;
    try {
      while (done < bytes.length) done += writeSync(this.#fd, bytes, done);
    } catch (cause) {
      const errno = (cause as NodeJS.ErrnoException).code ?? String(cause);
      throw new HermesError("TRACE_WRITE", { file: this.file, errno }, { cause });
    }
  }

  close(): void {
    try {
      this.flush();
    } finally {
      closeSync(this.#fd);
    }
  }
}
