import type { RuntimeCheckOptions } from "../intent/runtime-check/options.js";
import type { FenceOutcome } from "../kernel/binding/fence-plan.js";
import type { FenceOptions } from "../kernel/fence/options.js";
import type { Allowance } from "../nouns/allowance.js";
import type { FenceLevel } from "../nouns/protection.js";
import type { Reply } from "../people/approval/answer.js";
import type { Question } from "../people/approval/question.js";
import type { ActivityReport } from "../record/trace/activity.js";
import type { TraceOptions, TraceResult } from "../record/trace/options.js";
import type { CoverageOptions } from "./coverage/options.js";
import type { CoverageReport } from "./coverage/report.js";
import type { Refusal } from "./refusal-log.js";
import type { RingReport } from "./ring/ring.js";
import type { DecidedCallCount, SummaryReport } from "./summary.js";
import type { SupervisorPlan } from "./supervisor.js";

/** A session's options: plain data, so that they can be sent to the worker thread. */
export interface SessionOptions {
  readonly command: readonly string[];
  /** The file to execute, if it differs from the command's first word. */
  readonly file?: string;
  readonly policies: readonly string[];
  /** What the user's hermes.yaml allows although these policies refuse it. */
  readonly allowances?: readonly Allowance[];
  /** Those of the policies that allowances do not lift: the fleet's. */
  readonly required?: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** The folder that the program may work in, as the user names it: nouns/workspace.ts. */
  readonly workspace?: string;
  readonly stdio?: readonly [number, number, number];
  readonly keepFds?: readonly number[];
  readonly limits?: Readonly<Record<string, readonly [bigint, bigint]>>;
  readonly ignoredSignals?: bigint;
  readonly blockedSignals?: bigint;
  readonly blockingStdio?: readonly (boolean | undefined)[];
  readonly door: "auto" | "notify" | "trace";
  readonly fence: FenceOptions & { readonly level: FenceLevel };
  /** Off: rules on reading files are decided at each call, also where mounts could hold them. */
  readonly view?: "auto" | "off";
  /** Milliseconds. */
  readonly timeout?: number;
  readonly newSession?: boolean;
  /** Stop and continue this whole process together with the program. */
  readonly followStops?: boolean;
  readonly trace?: TraceOptions;
  /** Files with prototypes of functions, besides those that HERMES ships (docs/reference/prototypes.md). */
  readonly prototypes?: readonly string[];
  /**
   * Record calls that are only observed by code inside the program, where possible. Fast, but cooperative:
   * observability only, not a security boundary.
   */
  readonly fast?: boolean;
  readonly coverage?: CoverageOptions;
  /** Reload policies when one of their files changes. */
  readonly reload: boolean;
  /** An approver is available. Without one, calls that need approval are refused. */
  readonly ask?: AskOptions;
  /** Calls and `%classes` that later policies may need. */
  readonly live?: readonly string[];
  /** The program runs already: `command`, `file` and `cwd` describe it, and its start cannot be changed. */
  readonly attach?: SessionAttachOptions;
  /**
   * The command that the run was judged as: the runtime check holds the program to it, in addition to the
   * policies.
   */
  readonly deed?: RuntimeCheckOptions;
  /**
   * Defend the session's own files by stopping calls, also where a strict fence would hold them: the kernel could not
   * make that fence whole.
   */
  readonly defence?: "stops";
  /** Tell each refusal while the program runs. Rules on reading are then decided at each call: mounts refuse silently. */
  readonly logRefusals?: boolean;
  /** Keep what each refused call was about, for the record of the run. */
  readonly remember?: boolean;
  /** Why there is no view although the policies could have one. */
  readonly withoutView?: string;
}

export interface SessionAttachOptions {
  readonly pid: number;
  /**
   * Install a filter even where that has lasting consequences: the process gives up new privileges (setuid
   * programs).
   */
  readonly filter: boolean;
}

export interface AskOptions {
  /** Milliseconds; without an answer by then, the call is refused. */
  readonly patience: number;
  /** A policy file whose rules answer in advance. It need not exist. */
  readonly approvals?: string;
}

export interface SessionResult {
  /** As in a shell: the program's exit code, or 128 + the signal that ended it. */
  readonly exitCode: number;
  /** Name of the signal that ended the program. */
  readonly signal?: string;
  /** The time limit ended it; the exit code is then 124. */
  readonly timedOut?: boolean;
  /** HERMES detached and the program runs on; the exit code is then 0. */
  readonly detached?: true;
  readonly pid: number;
  readonly summary: SummaryReport;
  readonly protections: Protections;
  readonly policies: readonly PolicyName[];
  /** How often policies were replaced while the program ran. */
  readonly reloads: number;
  /** With `logRefusals`: refusals at the end that were too many to be told. */
  readonly refusalsLeftOut?: number;
  readonly trace?: TraceResult;
  readonly coverage?: CoverageReport;
  /** The fast tier's report. */
  readonly fast?: RingReport;
  /** Problems that did not end the run: policies that threw, verdicts that could not be carried out. */
  readonly problems: readonly string[];
}

export interface PolicyName {
  readonly name: string;
  readonly version: string;
  readonly file?: string;
}

/** The protections in force. */
export interface Protections {
  readonly doors: readonly string[];
  readonly filterInstructions: number;
  readonly constantRules: number;
  readonly noNewPrivs: boolean;
  readonly ioUring: "refused" | "allowed";
  /** The fence's level. */
  readonly fence: FenceLevel;
  /** How many files and folders mounts hide, where they hold the rules on reading files. */
  readonly hiddenFiles?: number;
  /** The only places where mounts let the program change files that it has open. */
  readonly changeable?: readonly string[];
  /** Why that is decided at each call instead. */
  readonly openFilesDecided?: string;
  /** Why mounts do not hold the rules on reading files, where they could by their form or this machine. */
  readonly withoutView?: string;
  /** The fence's protections in force, and those of its level that are not, with the reason. */
  readonly inForce: readonly string[];
  readonly missing: readonly { readonly name: string; readonly why: string }[];
  /** For an attached program: the mechanism, and its cost. */
  readonly attached?: string;
  /** How many functions of the program are watched. The program could remove the breakpoints. */
  readonly functions?: number;
  /** At how many places each watched instruction was found. The program could remove the breakpoints. */
  readonly instructions?: Readonly<Record<string, number>>;
}

/**
 * How a session ended: the program's wait status, "detached" when it runs on, "unknown" when the kernel did
 * not report it.
 */
export type Ending = number | "detached" | "unknown";

/** The worker thread's input. */
export interface WorkerTask {
  readonly options: SessionOptions;
  /** The location of policies that cannot be sent to the worker. */
  readonly remote?: {
    readonly doorway: SupervisorPlan;
    readonly memory: SharedArrayBuffer;
    readonly control: SharedArrayBuffer;
  };
}

/** Worker to main thread. */
export type WorkerReport =
  | { readonly type: "started"; readonly pid: number; readonly worker: number; readonly launcher: number }
  | { readonly type: "main-exited" }
  | { readonly type: "main-stopped"; readonly signal: number }
  | { readonly type: "problem"; readonly text: string }
  | { readonly type: "refused"; readonly refusal: Refusal }
  | { readonly type: "question"; readonly question: Question }
  | { readonly type: "withdrawn"; readonly id: number; readonly why: string }
  | { readonly type: "policies"; readonly policies: readonly PolicyName[]; readonly files: readonly string[] }
  | { readonly type: "heard" }
  | { readonly type: "status"; readonly status: SessionStatus }
  | { readonly type: "watch"; readonly files: readonly string[] }
  | { readonly type: "done"; readonly result: SessionResult }
  | {
      readonly type: "over";
      readonly ending: Ending;
      readonly fence: FenceOutcome;
      readonly masksSeen: Uint8Array;
    }
  | {
      readonly type: "failed";
      readonly code: string;
      readonly message: string;
      readonly deeds?: readonly DecidedCallCount[];
    };

/** Main thread to worker, which reads it when woken. */
export type WorkerOrder =
  | { readonly type: "end" | "reload" | "flush" | "status" }
  | { readonly type: "answer"; readonly id: number; readonly reply: Reply }
  /** These calls are decided: release them. */
  | { readonly type: "release"; readonly tids: readonly number[] };

/** The current state of a session, for observers. */
export interface SessionStatus {
  readonly summary: SummaryReport;
  readonly activity: ActivityReport;
  readonly policies: readonly PolicyName[];
  readonly reloads: number;
  readonly doors: readonly string[];
  readonly trace?: TraceResult;
}
