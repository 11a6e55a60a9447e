import type { Shown } from "../../binary/prototypes/render.js";
import type { Receiver } from "../../nouns/event.js";
import type { RecordedStack } from "../../nouns/inside.js";

/** Version of the records that docs/reference/trace-format.md describes. A field's meaning never changes within a version. */
export const TRACE_VERSION = 1;

/** Bytes in a record: text when all of it is there, else what there is and how much it was. */
export type RecordedBytes = string | { readonly start: string; readonly length: number };

/** An argument as a trace holds it. */
export type Rendered = string | number | null | readonly string[] | RecordedBytes;

export interface PolicyInForce {
  readonly name: string;
  readonly version: string;
}

/** The first record of a trace, and of each of its parts. */
export interface HeaderRecord {
  readonly kind: "header";
  readonly hermes: "trace";
  readonly version: number;
  /** ISO 8601. */
  readonly started: string;
  readonly command: readonly string[];
  readonly policies: readonly PolicyInForce[];
  /** Where the program was started, and its user's home. */
  readonly cwd?: string;
  readonly home?: string;
  /** What was recorded, calls and `%classes`; everything when absent. */
  readonly events?: readonly string[];
  /** The functions that were recorded, as they were asked for. */
  readonly functions?: readonly string[];
  /** Names the run: the parts of one trace share it. */
  readonly run?: string;
  /** Counts the parts of a rotated trace from 1. */
  readonly part?: number;
}

/** What was decided on a call, and where it was made. */
interface Decided {
  readonly action: string;
  readonly policy?: string;
  readonly rule?: string;
  readonly reason?: string;
  readonly version?: string;
  /** Who called whom, the innermost first. */
  readonly stack?: RecordedStack;
}

/** A call that was made, and its outcome. */
export interface CallRecord extends Decided {
  readonly kind: "syscall";
  /** Seconds since 1970, when the call was made. */
  readonly time: number;
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  readonly args: Readonly<Record<string, Rendered>>;
  /** The first path, canonical. */
  readonly path?: string;
  /** All of them, of calls that take several. */
  readonly paths?: readonly string[];
  /** Where a sendmsg or sendmmsg goes, when its messages say so. */
  readonly addresses?: readonly string[];
  /** What its control messages are: `SCM_RIGHTS`, `IP_RETOPTS`. */
  readonly controls?: readonly string[];
  /** Whom a signal reaches. */
  readonly receivers?: readonly Receiver[];
  readonly target?: string;
  /** What the new descriptor refers to, where no path says it: sockets, pipes, duplicates. */
  readonly opened?: string;
  readonly result?: number;
  readonly errno?: string;
  /** Seconds from call to return. */
  readonly elapsed?: number;
}

/** A call of a function inside the program, written when it has returned or cannot any more. */
export interface FunctionRecord extends Decided {
  readonly kind: "function";
  /** Seconds since 1970, when it was called. */
  readonly time: number;
  readonly pid: number;
  readonly tid: number;
  /** `libc!getenv`, `app!0x1234`. */
  readonly name: string;
  /** By the function's prototype (docs/reference/prototypes.md); the first few words as they were when there is none. */
  readonly args: Readonly<Record<string, Shown>>;
  /** Which of what is shown is text although it looks like a name or a number: `name`, `.../0`, `return`. */
  readonly texts?: readonly string[];
  /** In how many other recorded calls of its thread it was made. */
  readonly depth?: number;
  /** Who called it: `ls!main+0x1f`. */
  readonly caller?: string;
  readonly result?: Shown;
  /** The result means a failure; and the error, where the function sets one. */
  readonly failed?: true;
  readonly errno?: string;
  /** Seconds from call to return. */
  readonly elapsed?: number;
  /** How it ended without returning: its thread jumped out of it, ended, or became another program. */
  readonly left?: "jump" | "exit" | "exec";
}

export interface ForkRecord {
  readonly kind: "fork";
  readonly time: number;
  readonly tid: number;
  readonly child: number;
  /** The process that the child belongs to; the child's own number unless it is a thread. */
  readonly pid?: number;
}

export interface ExecRecord {
  readonly kind: "exec";
  readonly time: number;
  readonly pid: number;
  readonly tid: number;
  readonly exe: string;
  readonly argv: readonly string[];
}

export interface ExitRecord {
  readonly kind: "exit";
  readonly time: number;
  readonly tid: number;
  readonly code?: number;
  /** Name of the signal that ended it. */
  readonly signal?: string;
}

/** These policies took over while the program ran. */
interface PoliciesRecord {
  readonly kind: "policies";
  readonly time: number;
  readonly policies: readonly PolicyInForce[];
}

/** So many records were not written: what was asked to be recorded came faster than it could be. */
interface DroppedRecord {
  readonly kind: "dropped";
  readonly time: number;
  readonly count: number;
}

interface EndRecord {
  readonly kind: "end";
  readonly time: number;
  readonly exitCode: number;
}

export type TraceRecord =
  | HeaderRecord
  | CallRecord
  | FunctionRecord
  | ForkRecord
  | ExecRecord
  | ExitRecord
  | PoliciesRecord
  | DroppedRecord
  | EndRecord;
