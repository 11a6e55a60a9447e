import type { Answer, Question } from "../approval/question.js";
import type { DeedCall } from "../audit/deed-call.js";
import type { DeedOptions } from "../deed/options.js";
import type { CredentialFile } from "../guard/credentials/registry.js";

/**
 * Where commands run: on this machine (`local.ts`), in a container, or on another machine that has HERMES. Wherever it
 * is, HERMES mediates there; test/tools/backends holds all of them to the same promises.
 */
export interface Backend {
  readonly name: "local" | "oci" | "ssh";
  /** Rejects with a HermesError when it cannot be started; what happens later is in the result. */
  start(order: RunOrder, events: RunEvents): Promise<Running>;
  /** Ends what still runs and gives everything back. */
  close(): Promise<void>;
}

/** Plain data: it may travel to another machine. */
export interface RunOrder {
  readonly argv: readonly string[];
  /** Absolute, inside the workspace. */
  readonly cwd: string;
  /** All of it: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds; then SIGTERM, and a second later SIGKILL, to every process of the run. */
  readonly timeout: number;
  /** What comes on stdin; `pipe` means that the caller writes. Nothing: /dev/null. */
  readonly stdin?: "pipe";
  /** A terminal in place of pipes: everything arrives as stdout. */
  readonly terminal?: { readonly columns: number; readonly rows: number };
  /** What the kernel holds the run to. */
  readonly deed: DeedOptions;
  /** Readable for the run, and not writable. */
  readonly credentialFiles?: readonly CredentialFile[];
  /** Milliseconds that a question at a system call waits; absent: whatever needs an answer is refused. */
  readonly patience?: number;
}

export interface RunEvents {
  /** Nothing more is read of the run's output until a promise that this returns has settled. */
  output?(stream: "stdout" | "stderr", bytes: Buffer): void | Promise<void>;
  /** A person is asked at a system call; the call waits. Where this is not given, it is refused. */
  question?(question: Question, answer: (answer: Answer) => void): void;
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
  /** SIGTERM, a second later SIGKILL, to every process of the run; resolves when there is none left. */
  kill(): Promise<void>;
}

export interface RunResult {
  /** As a shell would say it; 124 when its time was over. */
  readonly exitCode: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  /** The command had ended, and what it had left running was ended a moment later. */
  readonly leftBehind?: boolean;
  /** What was refused while it ran, the same thing once, in order. */
  readonly refusals: readonly Refusal[];
  /** What decided, by name and version. */
  readonly policies: readonly { readonly name: string; readonly version: string }[];
  /** Protections that were in force, and those that were wanted and are not there. */
  readonly inForce: readonly string[];
  readonly missing: readonly { readonly name: string; readonly why: string }[];
}

export interface Refusal {
  /** `run rm -rf /`, `connect 169.254.169.254:80`, `openat /root/.ssh/id_ed25519 (O_RDONLY)` */
  readonly what: string;
  readonly call: string;
  readonly about?: DeedCall;
  readonly reason: string;
  readonly rule: string;
  readonly policy: string;
  readonly version: string;
  readonly times: number;
}
