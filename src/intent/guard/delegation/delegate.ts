import { randomUUID } from "node:crypto";
import { HermesError } from "../../../nouns/errors.js";
import type { IterationBudget } from "./budget.js";
import { DELEGATE_BLOCKED_TOOLS, MAX_DEPTH, READ_ONLY_TOOLS, toolName } from "./tools.js";

/** An agent that can delegate: the main agent, or a delegate. */
interface DelegatingAgent {
  readonly taskId: string;
  readonly depth: number;
  readonly tools: readonly string[];
  readonly budget: IterationBudget;
  readonly readOnly: boolean;
}

interface Delegate extends DelegatingAgent {
  readonly parent: string;
  /** Starts empty: the delegate knows nothing of its parent's conversation. */
  readonly messages: readonly [{ readonly role: "user"; readonly content: string }];
  readonly skipMemory: true;
}

interface DelegationRequest {
  readonly task: string;
  /** A subset of the parent's tools; default: all that it may pass on. */
  readonly tools?: readonly string[];
  readonly readOnly?: boolean;
}

/** The agent that talks to the user. */
export function rootAgent(tools: readonly string[], budget: IterationBudget): DelegatingAgent {
  return { taskId: randomUUID(), depth: 0, tools, budget, readOnly: false };
}

/** Starts a delegate with at most its parent's rights. */
export function delegate(
  parent: DelegatingAgent,
  { task, tools, readOnly = false }: DelegationRequest,
): Delegate {
  if (parent.depth + 1 >= MAX_DEPTH)
    throw new HermesError("DELEGATION", {
      message: `an agent at depth ${parent.depth} cannot delegate (limit ${MAX_DEPTH})`,
    });
  const own = new Set(parent.tools.map(toolName));
  const foreign = (tools ?? []).find((name) => !own.has(toolName(name)));
  if (foreign !== undefined)
    throw new HermesError("DELEGATION", { message: `${foreign} is not a tool of the delegating agent` });
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
