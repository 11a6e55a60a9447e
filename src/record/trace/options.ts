import type { Form } from "./encoders.js";
import type { StraceOptions } from "./strace-encoder.js";
import type { Losses } from "./writer.js";

/** What is recorded of a run, where and how. Plain data: it crosses to the worker thread. */
export interface TraceOptions {
  /** A file, or a descriptor of ours. */
  readonly file: string | number;
  /** As strace would write it, instead of records. */
  readonly strace?: StraceOptions;
  /** Default: as the file's name says (docs/reference/trace-format.md). */
  readonly form?: Form;
  /** Syscall names and `%classes`; all when absent. */
  readonly events?: readonly string[];
  /** Functions inside the program: `libc!get*`; those that `!libc!*alloc*` names are left out. */
  readonly functions?: readonly string[];
  /** Calls and `%classes` whose stacks are recorded, among those that are recorded. */
  readonly stack?: readonly string[];
  /** How many bytes of a buffer go into a record. */
  readonly bytes: number;
  /** Bytes after which a new file is begun. */
  readonly size?: number;
  /** How many files are kept then, the current one included. */
  readonly keep?: number;
  /** When the reader of the trace is slow: the program waits, or what is merely observed is dropped. */
  readonly overflow: "wait" | "drop";
  /** When the trace cannot be written: the run ends, or it continues and reports what was not recorded. */
  readonly onError: "stop" | "continue";
}

export const TRACE_DEFAULTS = { bytes: 64, overflow: "wait", onError: "stop" } as const;

export interface TraceResult {
  readonly file: string | number;
  readonly records: number;
  /** Whether everything that was to be recorded is in the trace. */
  readonly complete: boolean;
  /** What is not. */
  readonly lost: Losses;
}
