import type * as z from "zod";
import type { ConfigFile } from "../../intent/guard/config/schema.js";
import type { MergedConfig } from "../../intent/guard/config/tighten.js";
import type { CredentialFiles } from "../../intent/guard/credentials/registry.js";
import type { FileTracker } from "../../intent/guard/files/tracker.js";
import type { Guard, Judgement } from "../../intent/guard/guard.js";
import type { Subject } from "../../intent/guard/subject.js";
import type { ApprovalPart } from "../../people/approval/approvals.js";
import type { Backend, Running } from "./backend.js";

/**
 * What an agent can call. `judge` says what would happen and changes nothing. `run` does it, after the approvals that
 * `judge` asked for. The toolbox does everything between the two: rows, approvals, records (`toolbox.ts`).
 */
export interface Tool<Input = unknown, Output extends object = object> {
  readonly name: string;
  /** For the model: what the tool does, its limits, and alternatives to what it refuses. */
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** The tool never changes anything. */
  readonly readOnly: boolean;
  judge(input: Input, world: ToolContext): Promise<ToolIntent>;
  run(input: Input, call: ToolCall, world: ToolContext): Promise<Output>;
}

/** What a call would do, before it runs. */
export interface ToolIntent extends Judgement {
  /** One line for a person. */
  readonly what: string;
  /** What the guard judged, for the record; absent when the guard has no rules for the tool. */
  readonly subject?: Subject;
  /** Covers everything that the approval is for. It is computed again before the call runs and must be equal. */
  readonly digest: string;
  readonly argv?: readonly string[];
  /** Every program that a command would run, with its arguments. */
  readonly programs?: readonly (readonly string[])[];
  readonly parts?: readonly ApprovalPart[];
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** One call that may run. */
export interface ToolCall {
  readonly id: string;
  readonly signal: AbortSignal;
  /** The digest of the allowed intent: checked again on the pinned object. */
  readonly digest: string;
  /** Guard rules that were approved for this call. */
  readonly approved: readonly string[];
  /** The caller's own stdin is the command's, where the call names none. */
  readonly givesStdin: boolean;
  /** Called with a command that has started. */
  started(running: Pick<Running, "write" | "closeInput" | "resize">): void;
  /** Called with output as it arrives. */
  output(stream: "stdout" | "stderr", bytes: Buffer): void;
  /** Calls another tool for this one: judged, asked about and recorded like any call. It ends no later than this call. */
  callTool(name: string, input: unknown, signal?: AbortSignal): Promise<object>;
}

/** The environment of a call. */
export interface ToolContext {
  readonly workspace: string;
  readonly home: string;
  readonly session: string;
  readonly guard: Guard;
  readonly config: ConfigFile;
  /** The project file's minimum actions for single rules. */
  readonly atLeast: MergedConfig["atLeast"];
  /** Starts commands. Questions asked while they run go to the approval queue, refusals go to the audit. */
  readonly backend: Backend;
  readonly files: FileTracker;
  readonly credentials: CredentialFiles;
  /** Variables that the skills in use declare: commands get them. */
  readonly declared: Set<string>;
  /** Path prefixes that no command can see: the store, and the agent's own folder. */
  readonly closed?: readonly string[];
  /** … except what begins so: the skills. */
  readonly closedExcept?: readonly string[];
  /** The environment for commands, before secrets are removed. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Maximum timeout of a command in seconds, where the operator sets it rather than the model. */
  readonly longestTimeout?: number;
}

/** A refusal or failure whose message is shown to the agent. */
export class ToolError extends Error {
  readonly rule: string;

  constructor(rule: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "ToolError";
    this.rule = rule;
  }
}

/** What a rule refuses although the call has begun: a redirect to a refused address, a read that only repeats. */
export class ToolRefusal extends ToolError {}
