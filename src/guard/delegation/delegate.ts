import { randomUUID } from "node:crypto";
import { HermesError } from "../../errors.js";
import type { IterationBudget } from "./budget.js";
import { DELEGATE_BLOCKED_TOOLS, MAX_DEPTH, READ_ONLY_TOOLS, toolName } from "./tools.js";

/** An agent that can delegate: the one that talks to the user, or one that it started. */
export interface Agent {
  readonly taskId: string;
  readonly depth: number;
  readonly tools: readonly string[];
  readonly budget: IterationBudget;
  readonly readOnly: boolean;
}

export interface Delegate extends Agent {
  readonly parent: string;
  /** Starts empty: nothing of the parent's conversation is known to it. */
  readonly messages: readonly [{ readonly role: "user"; readonly content: string }];
  readonly skipMemory: true;
}

export interface DelegationRequest {
  readonly task: string;
  /** Fewer tools than the parent has; default: all that it may pass on. */
  readonly tools?: readonly string[];
  readonly readOnly?: boolean;
}

/** The agent that talks to the user. */
export function rootAgent(tools: readonly string[], budget: IterationBudget): Agent {
  return { taskId: randomUUID(), depth: 0, tools, budget, readOnly: false };
}

/** Starts a delegate with less than its parent has, never more. */
export function delegate(parent: Agent, { task, tools, readOnly = false }: DelegationRequest): Delegate {
  if (parent.depth + 1 >= MAX_DEPTH)
    throw new HermesError("DELEGATION", {
      message: `an agent at depth ${parent.depth} cannot delegate (limit ${MAX_DEPTH})`,
    });
  const own = new Set(parent.tools.map(toolName));
  const foreign = (tools ?? []).find((name) => !own.has(toolName(name)));
  if (foreign !== undefined)
    throw new HermesError("DELEGATION", { message: `${foreign} is not a tool of the agent that delegates` });
  const blocked = (tools ?? []).find((name) => toolName(name) in DELEGATE_BLOCKED_TOOLS);
  if (blocked !== undefined)
    throw new HermesError("DELEGATION", {
      message: `${blocked}: ${DELEGATE_BLOCKED_TOOLS[toolName(blocked)]}`,
    });
  const narrow = parent.readOnly || readOnly;
  const allowed = (tools ?? parent.tools).filter(
    (name) => !(toolName(name) in DELEGATE_BLOCKED_TOOLS) && (!narrow || READ_ONLY_TOOLS.has(toolName(name))),
  );
  return {
    taskId: randomUUID(),
    parent: parent.taskId,
    depth: parent.depth + 1,
    tools: allowed,
    budget: parent.budget,
    readOnly: narrow,
    messages: [{ role: "user", content: task }],
    skipMemory: true,
  };
}
