import type { Action } from "../../intent/guard/finding.js";
import type { Workspace } from "../../nouns/workspace.js";
import type { ToolRow } from "./tools.js";

/** Before a tool runs; when the agent is about to ask its user about it; after it has run. */
type HookMoment = "before" | "permission" | "after";

/** One tool call as an agent's hook reports it, in the same form for every agent. */
export interface HookCall {
  /** The agent's own name of the event: `PreToolUse`. */
  readonly event: string;
  readonly moment: HookMoment;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** What the tool returned; only in events after the call. */
  readonly response?: unknown;
  /** Absolute: the agent's current directory. */
  readonly cwd: string;
  /** The folder that the agent may change. */
  readonly workspace: Workspace;
  readonly session: string;
  /** A person uses the agent interactively and can answer its questions. */
  readonly hasUser: boolean;
}

export interface HookDecision {
  readonly action: Action;
  /** A message to the agent, or to the person that it asks. Never empty. */
  readonly reason: string;
  /** Input that replaces the agent's input. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** No explicit allow: the agent's own permission rules decide, as without this hook. */
  readonly silent?: boolean;
  /** After the call: the tool's result in the same shape, without what the model must not read. */
  readonly output?: unknown;
}

/**
 * One agent's contract: the names of its events and tools, and the answers that it understands. An answer of `undefined`
 * prints nothing, which every agent takes as "no opinion". A refusal without an answer (a crash, invalid input) is exit
 * status 2 with a line on stderr, which all three agents take as a no.
 */
export interface AgentAdapter {
  readonly name: string;
  readonly events: Readonly<Record<string, HookMoment>>;
  /** The environment variable with the project's folder. */
  readonly project?: string;
  /** Further environment variables that the hook reads. */
  readonly variables?: readonly string[];
  readonly tools: Readonly<Record<string, ToolRow>>;
  /** Pattern of the names of MCP tools. */
  readonly servers: RegExp;
  /**
   * Whether the agent itself asks its user and then runs the input from the hook's answer. Decided from the hook's input
   * and environment. Where the agent would not ask, or has no user, HERMES asks.
   */
  asks(input: Readonly<Record<string, unknown>>, env: Readonly<Record<string, string | undefined>>): boolean;
  /** The agent's timeout for a command, in seconds. */
  timeout(input: HookCall["input"]): number;
  answer(call: HookCall, decision: HookDecision): object | undefined;
}
