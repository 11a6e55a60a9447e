import { closeSync, constants, fstatSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { HermesError } from "../../nouns/errors.js";
import type { Encoder } from "./encoders.js";
import { partName } from "./trace-parts.js";

/** Records that wait for a full disk or a slow reader. Beyond this even decisions are lost, and counted. */
const MAX_WAITING = 10_000;
/** For how many seconds nothing is tried after a failure: a full pipe is soon empty, a full disk is not. */
const PAUSE = { full: 0.001, failed: 1 };
/** How long the end of a run waits for a slow reader, in milliseconds. */
const LAST_WAIT = 5000;

export interface WriterOptions {
  /** A file, or a descriptor that is open and stays so. */
  readonly file: string | number;
  readonly encoder: () => Encoder;
  /** How many bytes are gathered before they are written. */
  readonly block: number;
  /** Bytes after which the file becomes a part and a new one is begun. */
  readonly size?: number;
  /** How many parts are kept, the current one included. */
  readonly keep?: number;
  /** When the reader of a pipe is slow: the program waits, or what is merely observed is dropped. */
  readonly overflow: "wait" | "drop";
  /** The first record of part n. */
  readonly header: (part: number) => object;
  /** Told once each time that writing begins to fail. */
  readonly onError: (error: HermesError) => void;
}

/** What did not get into the trace. */
export interface Losses {
  readonly observations: number;
  readonly decisions: number;
}

/**
 * Writes a trace in blocks. When that fails, decisions wait in memory until it works again, and what is merely observed is
 * dropped and counted: the next block that can be written says how much.
 */
export class TraceWriter {
  readonly #options: WriterOptions;
  readonly #name: string;
  #fd: number;
  #encoder: Encoder;
  #part = 1;
  /** Bytes of this part, and of its largest block. */
  #written = 0;
  #largest = 0;
  #records = 0;
  /** Of the block that is gathered or being written. */
  #inBlock = { observations: 0, decisions: 0 };
  /** Bytes of a block that was begun: nothing may come before them. */
  #rest: Buffer = Buffer.alloc(0);
  /** What is to happen once they are written. */
  #next: (() => void) | undefined;
  /** Not 0 while writing fails. */
  #retryAt = 0;
  #waiting: object[] = [];
  #lost = { observations: 0, decisions: 0 };
  #untold = 0;
  #over = false;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#name = typeof options.file === "string" ? options.file : `descriptor ${options.file}`;
    this.#fd = this.#open();
    this.#encoder = this.#begin();
  }

  /** Records that were taken. */
  get records(): number {
    return this.#records;
  }
  get lost(): Losses {
    return this.#lost;
  }

  #open(): number {
    const { file, size, overflow } = this.#options;
    if (typeof file === "number") return file;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
    try {
      const fd = openSync(file, overflow === "drop" ? flags | constants.O_NONBLOCK : flags, 0o600);
      if (size === undefined || fstatSync(fd).isFile()) return fd;
      closeSync(fd);
    } catch (cause) {
      throw failure("TRACE_OPEN", file, cause);
    }
    throw new HermesError("USAGE", { message: `only a plain file can be rotated, and ${file} is none` });
  }

  #begin(): Encoder {
    const encoder = this.#options.encoder();
    encoder.add(this.#options.header(this.#part));
    return encoder;
  }

  /** A decision waits when it cannot be written; what is merely observed is dropped then. */
  write(record: object, isDecision: boolean, time: number): void {
    if (this.#retryAt > 0 && !this.#tryAgain(time)) {
      this.#putAside(record, isDecision);
      return;
    }
    this.#records++;
    if (isDecision) this.#inBlock.decisions++;
    else this.#inBlock.observations++;
    this.#encoder.add(record);
    if (this.#encoder.waiting >= this.#options.block) this.flush(time);
  }

  #putAside(record: object, isDecision: boolean): void {
    if (!isDecision) {
      this.#lost.observations++;
      this.#untold++;
    } else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(record);
    else this.#lost.decisions++;
  }

  /** Whether records can be taken again. */
  #tryAgain(time: number): boolean {
    if (time < this.#retryAt || !this.#drain(time)) return false;
    this.#retryAt = 0;
    if (this.#untold > 0) this.#encoder.add({ kind: "dropped", time, count: this.#untold });
    this.#untold = 0;
    for (const record of this.#waiting.splice(0)) {
      this.#encoder.add(record);
      this.#records++;
      this.#inBlock.decisions++;
    }
    return true;
  }

  /** Hands what was taken so far to the kernel. */
  flush(time = Date.now() / 1000): void {
    if (this.#rest.length > 0 || this.#encoder.waiting === 0) return;
    this.#rest = this.#encoder.take();
    this.#next = () => this.#blockWritten(time);
    this.#drain(time);
  }

  #blockWritten(time: number): void {
    const { size } = this.#options;
    this.#inBlock = { observations: 0, decisions: 0 };
    if (size === undefined || this.#written + this.#largest <= size) return;
    this.#rest = this.#encoder.finish();
    this.#next = () => this.#rotate();
    this.#drain(time);
  }

  /** The file becomes part n, and another takes its name. */
  #rotate(): void {
    const { file, keep } = this.#options;
    const name = file as string;
    moveAway(name, partName(name, this.#part));
    const old = this.#fd;
    this.#fd = this.#open();
    closeSync(old);
    if (keep !== undefined) rmSync(partName(name, this.#part - keep + 1), { force: true });
    this.#part++;
    this.#written = 0;
    this.#encoder = this.#begin();
  }

  /** Writes what is due. False when it cannot be done now. */
  #drain(time: number): boolean {
    try {
      this.#largest = Math.max(this.#largest, this.#rest.length);
      while (this.#rest.length > 0) {
        const count = this.#put(this.#rest);
        this.#rest = this.#rest.subarray(count);
        this.#written += count;
      }
      const next = this.#next;
      next?.();
      if (this.#next === next) this.#next = undefined;
      return this.#rest.length === 0;
    } catch (cause) {
      this.#failed(cause as NodeJS.ErrnoException, time);
      return false;
    }
  }

  /** Some descriptors that we are given do not block, although the program is to wait for them. */
  #put(bytes: Buffer): number {
    for (;;) {
      try {
        return writeSync(this.#fd, bytes);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || this.#options.overflow === "drop")
          throw error;
        sleep(1);
      }
    }
  }

  #failed(cause: NodeJS.ErrnoException, time: number): void {
    const isNew = this.#retryAt === 0;
    this.#retryAt = time + (cause.code === "EAGAIN" ? PAUSE.full : PAUSE.failed);
    if (isNew && cause.code !== "EAGAIN")
      this.#options.onError(cause instanceof HermesError ? cause : failure("TRACE_WRITE", this.#name, cause));
  }

  /** What could not be written until now is lost, and counted. */
  close(): void {
    for (const since = Date.now(); !this.#finished(); sleep(5))
      if (this.#options.overflow === "wait" || Date.now() - since > LAST_WAIT) {
        this.#lost.decisions += this.#waiting.length + this.#inBlock.decisions;
        this.#lost.observations += this.#inBlock.observations;
        break;
      }
    if (typeof this.#options.file === "string") closeSync(this.#fd);
  }

  #finished(): boolean {
    const time = Date.now() / 1000;
    if (!this.#over) {
      if (this.#retryAt > 0) this.#retryAt = time;
      if (this.#retryAt > 0 && !this.#tryAgain(time)) return false;
      this.#rest = this.#encoder.finish();
      this.#over = true;
    }
    return this.#drain(time);
  }
}

/** Idempotent: the file may be gone already. */
function moveAway(file: string, to: string): void {
  try {
    renameSync(file, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

const clock = new Int32Array(new SharedArrayBuffer(4));

function sleep(milliseconds: number): void {
  Atomics.wait(clock, 0, 0, milliseconds);
}

function failure(code: "TRACE_OPEN" | "TRACE_WRITE", file: string, cause: unknown): HermesError {
  const errno = (cause as NodeJS.ErrnoException).code ?? String(cause);
  return new HermesError(code, { file, errno }, { cause });
}
