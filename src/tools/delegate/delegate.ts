import { createHash } from "node:crypto";
import * as z from "zod";
import { IterationBudget } from "../../guard/delegation/budget.js";
import { delegate, rootAgent } from "../../guard/delegation/delegate.js";
import type { Intent, Tool } from "../tool.js";
import { ToolError } from "../tool.js";

/** All delegates of a session together. */
export const SESSION_STEPS = 200;
const DEFAULT_STEPS = 20;

const input = z.strictObject({
  task: z
    .string()
    .min(1)
    .max(50_000)
    .describe("All that the delegate knows: it sees nothing of this conversation."),
  tools: z
    .array(z.string())
    .min(1)
    .max(50)
    .optional()
    .describe("Fewer tools than you have; default: all it may have."),
  readOnly: z.boolean().default(false).describe("Only tools that change nothing."),
  steps: z
    .int()
    .min(1)
    .max(SESSION_STEPS)
    .default(DEFAULT_STEPS)
    .describe("How many calls of tools it may make."),
});
type Input = z.infer<typeof input>;

export interface Delegated {
  readonly taskId: string;
  readonly tools: readonly string[];
  readonly readOnly: boolean;
  readonly steps: number;
  readonly stepsLeft: number;
  /** What its conversation begins with, and nothing else. */
  readonly messages: readonly { readonly role: "user"; readonly content: string }[];
  /** How it gets its tools, and no others. */
  readonly serve: readonly string[];
}

/**
 * Prepares a delegate: what it may use, what it knows, how many steps it has. Whoever runs agents starts it; what it
 * may use is held by the server that `serve` starts for it.
 */
export function delegateTask(own: () => readonly string[]): Tool<Input, Delegated> {
  const budget = IterationBudget.of(SESSION_STEPS);
  return {
    name: "delegate",
    description:
      'Prepare another agent for a task of its own: it gets fewer tools than you have, a conversation of its own, no memory, and may not delegate further. The result says with which tools and how to serve them to it. Example: {"task": "Find where the port is configured.", "readOnly": true}',
    input,
    readOnly: false,

    async judge({ task, tools, readOnly, steps }, { guard }): Promise<Intent> {
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
      if (agent.tools.length === 0) throw new ToolError("no-tools", "Nothing is left that it may use.");
      if (!budget.take(steps))
        throw new ToolError("budget", `Only ${budget.left} steps are left for all delegates together.`);
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
