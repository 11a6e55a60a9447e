import type * as z from "zod";
import type { ApprovalPart } from "../approval/approvals.js";
import type { ConfigFile } from "../guard/config/schema.js";
import type { Merged } from "../guard/config/tighten.js";
import type { CredentialFiles } from "../guard/credentials/registry.js";
import type { FileTracker } from "../guard/files/tracker.js";
import type { Guard, Judgement } from "../guard/guard.js";
import type { Subject } from "../guard/subject.js";
import type { Backend } from "./backend.js";

/**
 * What an agent can call. `judge` says what would happen and changes nothing; `run` does it, after whatever `judge` asked
 * for was approved. Everything between the two (rows, approvals, records) is the toolbox's work (`toolbox.ts`).
 */
export interface Tool<Input = unknown, Output extends object = object> {
  readonly name: string;
  /** For the model: what it does, its limits, what to do instead of what it refuses. */
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** It changes nothing, anywhere. */
  readonly readOnly: boolean;
  judge(input: Input, world: World): Promise<Intent>;
  run(input: Input, call: Call, world: World): Promise<Output>;
}

/** What a call would do, before it does it. */
export interface Intent extends Judgement {
  /** One line for a person. */
  readonly what: string;
  /** What the guard judged, for the record; absent when the guard knows no such thing. */
  readonly subject?: Subject;
  /** Of everything that the answer holds for: made once more before the call runs, and it must be the same. */
  readonly digest: string;
  readonly argv?: readonly string[];
  /** Every program that a command would run, with its words. */
  readonly programs?: readonly (readonly string[])[];
  readonly parts?: readonly ApprovalPart[];
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** One call that may run now. */
export interface Call {
  readonly id: string;
  readonly signal: AbortSignal;
  /** Of the intent that was allowed: what runs is held to it once more, on the object that it has pinned by then. */
  readonly digest: string;
  /** Rules of the guard that were approved for it. */
  readonly approved: readonly string[];
  /** What it prints while it runs. */
  output(stream: "stdout" | "stderr", bytes: Buffer): void;
  /** Another tool on behalf of this one: judged, asked about and recorded as any call is. It ends with this one, or before. */
  callTool(name: string, input: unknown, signal?: AbortSignal): Promise<object>;
}

/** What tools know of where they work. */
export interface World {
  readonly workspace: string;
  readonly home: string;
  readonly session: string;
  readonly guard: Guard;
  readonly config: ConfigFile;
  /** What the project's file demands of single rules. */
  readonly atLeast: Merged["atLeast"];
  /** Starts commands. What is asked while they run goes to the approvals, what is refused into the audit. */
  readonly backend: Backend;
  readonly files: FileTracker;
  readonly credentials: CredentialFiles;
  /** Beginnings of paths that no command sees: the store. */
  readonly closed?: readonly string[];
  /** The environment that commands start from, before secrets are taken out. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Seconds that a command may be given, where that is not for a model to say. */
  readonly longestTimeout?: number;
}

/** A refusal or a failure that the agent is told about: its words are meant for it. */
export class ToolError extends Error {
  readonly rule: string;

  constructor(rule: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "ToolError";
    this.rule = rule;
  }
}
