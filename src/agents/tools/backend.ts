import type { CredentialFile } from "../../intent/guard/credentials/registry.js";
import type { RuntimeCheckOptions } from "../../intent/runtime-check/options.js";
import type { Answer, Reply } from "../../people/approval/answer.js";
import type { Question } from "../../people/approval/question.js";
import type { DecidedCall } from "../../record/audit/decided-call.js";

/**
 * Where commands run: on this machine (`local.ts`), in a container, or on another machine that has HERMES. HERMES mediates
 * there in every case; test/agents/tools/backends runs one shared test suite against all backends.
 */
export interface Backend {
  readonly name: "local" | "oci" | "ssh";
  /** Rejects with a HermesError when the command cannot be started; later failures are in the result. */
  start(order: RunOrder, events: RunEvents): Promise<Running>;
  /** Ends all runs and releases all resources. */
  close(): Promise<void>;
}

/** Plain data: it may be sent to another machine. */
export interface RunOrder {
  readonly argv: readonly string[];
  /** Absolute, inside the workspace. */
  readonly cwd: string;
  /** The complete environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds. Then every process of the run gets SIGTERM, and SIGKILL a second later. */
  readonly timeout: number;
  /**
   * The content of stdin. `pipe`: the caller writes it. `ours`: this process's own stdin; on another machine or in a container:
   * /dev/null. Absent: /dev/null.
   */
  readonly stdin?: "pipe" | "ours";
  /** A terminal instead of pipes: all output arrives as stdout. */
  readonly terminal?: { readonly columns: number; readonly rows: number };
  /** The runtime check that the supervisor enforces on the run. */
  readonly deed: RuntimeCheckOptions;
  /** The run may read these and not write them. */
  readonly credentialFiles?: readonly CredentialFile[];
  /** Milliseconds that a question at a system call holds the program; absent: what needs an answer is refused. */
  readonly patience?: number;
}

export interface RunEvents {
  /** Backpressure: the run's output is not read further until the returned promise settles. */
  output?(stream: "stdout" | "stderr", bytes: Buffer): void | Promise<void>;
  /** An approver is asked at a system call; the call waits. Without this event it is refused. */
  question?(question: Question, answer: (answer: Answer | Reply) => void): void;
  withdrawn?(id: number, why: string): void;
  problem?(text: string): void;
}

export interface Running {
  readonly pid: number;
  readonly result: Promise<RunResult>;
  write(bytes: string | Uint8Array): void;
  closeInput(): void;
  resize(columns: number, rows: number): void;
  signal(name: NodeJS.Signals): void;
  /** Every process of the run gets SIGTERM, and SIGKILL a second later. Resolves when none is left. */
  kill(): Promise<void>;
}

export interface RunResult {
  /** As a shell reports it; 124 after a timeout. */
  readonly exitCode: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  /** The command had ended but left processes running. They were killed a moment later. */
  readonly leftBehind?: boolean;
  /** What was refused during the run: each thing once, in order. */
  readonly refusals: readonly Refusal[];
  /** The deciding policies, by name and version. */
  readonly policies: readonly { readonly name: string; readonly version: string }[];
  /** Protections that were active, and requested ones that were unavailable. */
  readonly inForce: readonly string[];
  readonly missing: readonly { readonly name: string; readonly why: string }[];
}

export interface Refusal {
  /** `run rm -rf /`, `connect 169.254.169.254:80`, `openat /root/.ssh/id_ed25519 (O_RDONLY)` */
  readonly what: string;
  readonly call: string;
  readonly about?: DecidedCall;
  readonly reason: string;
  readonly rule: string;
  readonly policy: string;
  readonly version: string;
  readonly times: number;
}
