import { createHash } from "node:crypto";
import * as z from "zod";
import { IterationBudget } from "../../../intent/guard/delegation/budget.js";
import { delegate, rootAgent } from "../../../intent/guard/delegation/delegate.js";
import type { Tool, ToolIntent } from "../tool.js";
import { ToolError } from "../tool.js";

/** For all delegates of a session together. */
export const SESSION_STEPS = 200;
const DEFAULT_STEPS = 20;

const input = z.strictObject({
  task: z
    .string()
    .min(1)
    .max(50_000)
    .describe("The whole task: the delegate does not see this conversation."),
  tools: z
    .array(z.string())
    .min(1)
    .max(50)
    .optional()
    .describe("A subset of your tools; default: all that a delegate may use."),
  readOnly: z.boolean().default(false).describe("Only tools that do not change anything."),
  steps: z.int().min(1).max(SESSION_STEPS).default(DEFAULT_STEPS).describe("Maximum number of tool calls."),
});
type Input = z.infer<typeof input>;

interface Delegated {
  readonly taskId: string;
  readonly tools: readonly string[];
  readonly readOnly: boolean;
  readonly steps: number;
  readonly stepsLeft: number;
  /** The only content that its conversation starts with. */
  readonly messages: readonly { readonly role: "user"; readonly content: string }[];
  /** How it gets its tools, and no other tools. */
  readonly serve: readonly string[];
}

/**
 * Prepares a delegate: its tools, its prompt and its step limit. The agent host starts it. The server that `serve` starts
 * enforces the tool list.
 */
export function delegateTask(own: () => readonly string[]): Tool<Input, Delegated> {
  const budget = IterationBudget.of(SESSION_STEPS);
  return {
    name: "delegate",
    description:
      'Prepare another agent for a separate task. It gets a subset of your tools, its own conversation and no memory, and it cannot delegate further. The result lists its tools and the command that serves them to it. Example: {"task": "Find where the port is configured.", "readOnly": true}',
    input,
    readOnly: false,

    async judge({ task, tools, readOnly, steps }, { guard }): Promise<ToolIntent> {
      const request = { task, depth: 0, read_only: readOnly, iterations: steps, budget_left: budget.left };
      const subject = {
        kind: "delegation",
        input: JSON.stringify({ ...request, ...(tools && { tools }) }),
      } as const;
      const { action, findings } = guard.check(subject);
      const digest = createHash("sha256").update(
        JSON.stringify(["hermes delegation", 1, task, tools ?? null, readOnly, steps]),
      );
      return { what: `delegate: ${task}`, subject, action, findings, digest: digest.digest("hex") };
    },

    async run({ task, tools, readOnly, steps }, _call, { workspace }) {
      const agent = delegate(rootAgent(own(), budget), { task, readOnly, ...(tools && { tools }) });
      if (agent.tools.length === 0)
        throw new ToolError("no-tools", "No tool is left that the delegate may use.");
      if (!budget.take(steps))
        throw new ToolError(
          "budget",
          `Only ${budget.left} steps are left for all delegates of this session.`,
        );
      return {
        taskId: agent.taskId,
        tools: agent.tools,
        readOnly: agent.readOnly,
        steps,
        stepsLeft: budget.left,
        messages: agent.messages,
        serve: [
          "hermes",
          "mcp",
          "--workspace",
          workspace,
          "--tools",
          agent.tools.join(","),
          "--calls",
          String(steps),
        ],
      };
    },
  };
}
