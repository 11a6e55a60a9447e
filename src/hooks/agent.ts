import type { Action } from "../guard/finding.js";
import type { ToolRow } from "./tools.js";

/** Before a tool runs, when the agent is about to ask its user about one, and when one has run. */
export type Moment = "before" | "permission" | "after";

/** What an agent's hook is told of one tool call, whichever agent it is. */
export interface HookCall {
  /** As the agent calls it: `PreToolUse`. */
  readonly event: string;
  readonly moment: Moment;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** What the tool returned; only afterwards. */
  readonly response?: unknown;
  /** Absolute: where the agent works at this moment. */
  readonly cwd: string;
  /** Absolute: what the agent may change. */
  readonly workspace: string;
  readonly session: string;
  /** A person sits before the agent and answers what it asks. */
  readonly attended: boolean;
}

export interface Decision {
  readonly action: Action;
  /** For the agent, or for the person that it asks. Never empty. */
  readonly reason: string;
  /** What is to run in place of what the agent asked for. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Nothing is said for it: the agent's own rules decide, as they would without this hook. */
  readonly silent?: boolean;
  /** Afterwards: what the tool returned, in the same shape, without what must not be read. */
  readonly output?: unknown;
}

/**
 * One agent's contract: how it names its events and tools, and what it understands as an answer. An answer of `undefined`
 * prints nothing, which every agent takes as "no opinion"; refusals that are no answer (a crash, broken input) are told by
 * exit status 2 and a line on stderr, which all three take as a no.
 */
export interface Agent {
  readonly name: string;
  readonly events: Readonly<Record<string, Moment>>;
  /** The variable in which it tells its hooks where the project lies. */
  readonly project?: string;
  /** Other variables that it tells its hooks something in. */
  readonly variables?: readonly string[];
  readonly tools: Readonly<Record<string, ToolRow>>;
  /** Names of tools that MCP servers bring. */
  readonly servers: RegExp;
  /**
   * Whether it asks its user by itself and then runs the input that it was given, told from a hook's input and environment.
   * Where it would not ask, or nobody would answer, HERMES does.
   */
  asks(input: Readonly<Record<string, unknown>>, env: Readonly<Record<string, string | undefined>>): boolean;
  /** Seconds that it gives a command. */
  timeout(input: HookCall["input"]): number;
  answer(call: HookCall, decision: Decision): object | undefined;
}
