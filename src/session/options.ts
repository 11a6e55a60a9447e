import type { Answer, Question } from "../approval/question.js";
import type { CoverageOptions } from "../coverage/options.js";
import type { CoverageReport } from "../coverage/report.js";
import type { DeedOptions } from "../deed/options.js";
import type { FenceOptions } from "../fence/options.js";
import type { FenceOutcome } from "../kernel/fence-plan.js";
import type { FenceLevel } from "../protection.js";
import type { RingReport } from "../ring/ring.js";
import type { SummaryReport } from "../summary.js";
import type { ActivityReport } from "../trace/activity.js";
import type { TraceOptions, TraceResult } from "../trace/options.js";
import type { Doorway } from "./supervisor.js";

/** What a session is made of: plain data, so that it can cross to the worker thread. */
export interface SessionOptions {
  readonly command: readonly string[];
  /** The file to execute, when it is not the command's first word. */
  readonly file?: string;
  readonly policies: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly stdio?: readonly [number, number, number];
  readonly keepFds?: readonly number[];
  readonly limits?: Readonly<Record<string, readonly [bigint, bigint]>>;
  readonly ignoredSignals?: bigint;
  readonly blockedSignals?: bigint;
  readonly blockingStdio?: readonly (boolean | undefined)[];
  readonly door: "auto" | "notify" | "trace";
  readonly fence: FenceOptions & { readonly level: FenceLevel };
  /** Milliseconds. */
  readonly timeout?: number;
  readonly newSession?: boolean;
  /** The whole process stops and continues with the program. */
  readonly followStops?: boolean;
  readonly trace?: TraceOptions;
  /** Files with prototypes of functions, besides those that come with HERMES (docs/prototypes.md). */
  readonly prototypes?: readonly string[];
  /** What is only observed is recorded by code of ours in the program, where that can be: fast, and cooperative. */
  readonly fast?: boolean;
  readonly coverage?: CoverageOptions;
  /** Load policies anew when one of their files changes. */
  readonly reload: boolean;
  /** Somebody can be asked. Without, whatever needs an answer is refused. */
  readonly ask?: AskOptions;
  /** Calls and `%classes` that policies to come may want. */
  readonly live?: readonly string[];
  /** The program runs already: `command`, `file` and `cwd` are what it is, and nothing of how it was started can be changed. */
  readonly attach?: AttachOptions;
  /** What the run was judged as: the kernel holds it to that, beside the policies. */
  readonly deed?: DeedOptions;
}

export interface AttachOptions {
  readonly pid: number;
  /** Put a filter into it also where that has consequences for good: it gives up new privileges (setuid programs). */
  readonly filter: boolean;
}

export interface AskOptions {
  /** Milliseconds; no answer by then is a no. */
  readonly patience: number;
  /** A policy file whose rules are answers that hold for always. It need not exist. */
  readonly approvals?: string;
}

export interface SessionResult {
  /** As a shell would say it: the program's exit code, or 128 + the signal that ended it. */
  readonly exitCode: number;
  /** Name of the signal that ended the program. */
  readonly signal?: string;
  /** It was ended because its time was over; the exit code is then 124. */
  readonly timedOut?: boolean;
  /** HERMES left it, and it runs on; the exit code is then 0. */
  readonly detached?: true;
  readonly pid: number;
  readonly summary: SummaryReport;
  readonly protections: Protections;
  readonly policies: readonly PolicyName[];
  /** How often other policies took over while the program ran. */
  readonly reloads: number;
  readonly trace?: TraceResult;
  readonly coverage?: CoverageReport;
  /** What the fast tier observed. */
  readonly fast?: RingReport;
  /** What went wrong without ending the run: policies that threw, answers that could not be carried out. */
  readonly problems: readonly string[];
}

export interface PolicyName {
  readonly name: string;
  readonly version: string;
  readonly file?: string;
}

/** What was in force. */
export interface Protections {
  readonly doors: readonly string[];
  readonly filterInstructions: number;
  readonly constantRules: number;
  readonly noNewPrivs: boolean;
  readonly ioUring: "refused" | "allowed";
  /** The fence's level. */
  readonly fence: FenceLevel;
  /** The fence's protections that are in force, and those of its level that are not, with the reason. */
  readonly inForce: readonly string[];
  readonly missing: readonly { readonly name: string; readonly why: string }[];
  /** Of a program that was attached to: how, and what that costs. */
  readonly attached?: string;
  /** How many functions of the program are looked at: it could undo that. */
  readonly functions?: number;
  /** At how many places of code each instruction that policies name was found: the program could undo that. */
  readonly instructions?: Readonly<Record<string, number>>;
}

/** How a session ended: the program's wait status, or that it runs on; what nobody could tell us is not known. */
export type Ending = number | "detached" | "unknown";

/** What the worker thread is given. */
export interface WorkerTask {
  readonly options: SessionOptions;
  /** Where the policies are, when they could not come along. */
  readonly remote?: {
    readonly doorway: Doorway;
    readonly memory: SharedArrayBuffer;
    readonly control: SharedArrayBuffer;
  };
}

/** Worker to main thread. */
export type Report =
  | { readonly type: "started"; readonly pid: number; readonly worker: number; readonly launcher: number }
  | { readonly type: "main-exited" }
  | { readonly type: "main-stopped"; readonly signal: number }
  | { readonly type: "problem"; readonly text: string }
  | { readonly type: "question"; readonly question: Question }
  | { readonly type: "withdrawn"; readonly id: number; readonly why: string }
  | { readonly type: "policies"; readonly policies: readonly PolicyName[]; readonly files: readonly string[] }
  | { readonly type: "heard" }
  | { readonly type: "status"; readonly status: SessionStatus }
  | { readonly type: "done"; readonly result: SessionResult }
  | { readonly type: "over"; readonly ending: Ending; readonly fence: FenceOutcome }
  | { readonly type: "failed"; readonly code: string; readonly message: string };

/** Main thread to worker; it looks when it is woken. */
export type Order =
  | { readonly type: "end" | "reload" | "flush" | "status" }
  | { readonly type: "answer"; readonly id: number; readonly answer: Answer }
  /** These are decided now: let them go on. */
  | { readonly type: "release"; readonly tids: readonly number[] };

/** How a session is doing, for whoever looks on. */
export interface SessionStatus {
  readonly summary: SummaryReport;
  readonly activity: ActivityReport;
  readonly policies: readonly PolicyName[];
  readonly reloads: number;
  readonly doors: readonly string[];
  readonly trace?: TraceResult;
}
