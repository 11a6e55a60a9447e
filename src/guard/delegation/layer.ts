import * as z from "zod";
import { type Finding, findings } from "../finding.js";
import type { Context, Layer } from "../layer.js";
import { DELEGATE_BLOCKED_TOOLS, MAX_DEPTH, READ_ONLY_TOOLS, toolName } from "./tools.js";

const { deny, ask } = findings("delegation");

/** A delegation as agents ask for it. What is not named here says nothing about safety and is left alone. */
const REQUEST = z.object({
  task: z.string().optional(),
  goal: z.string().optional(),
  prompt: z.string().optional(),
  context: z.string().optional(),
  /** The depth of the agent that asks; 0 talks to the user. */
  depth: z.number().int().min(0).optional(),
  tools: z.array(z.string()).optional(),
  toolsets: z.array(z.string()).optional(),
  read_only: z.boolean().optional(),
  skip_memory: z.boolean().optional(),
  inherit_history: z.boolean().optional(),
  messages: z.array(z.unknown()).optional(),
  history: z.array(z.unknown()).optional(),
  task_id: z.string().optional(),
  parent_task_id: z.string().optional(),
  iterations: z.number().optional(),
  budget_left: z.number().optional(),
});

/** What an agent may hand to another one that it starts. */
export const delegation: Layer = {
  name: "delegation",
  kinds: ["delegation"],
  check({ input }, context) {
    if (!input.trimStart().startsWith("{")) return judgeTask(input, context);
    let value: unknown;
    try {
      value = JSON.parse(input);
    } catch (error) {
      return [deny("bad-request", `This is not JSON: ${(error as Error).message}`)];
    }
    const request = REQUEST.safeParse(value);
    if (!request.success)
      return [
        deny(
          "bad-request",
          `${request.error.issues[0]!.path.join(".")}: ${request.error.issues[0]!.message}`,
        ),
      ];
    return judge(request.data, context);
  },
};

function judge(request: z.infer<typeof REQUEST>, context: Context): Finding[] {
  const found: Finding[] = [];
  const { depth = 0 } = request;
  if (depth + 1 >= MAX_DEPTH)
    found.push(deny("depth", `An agent at depth ${depth} cannot delegate: parent, child, and no further.`));
  for (const name of [...(request.tools ?? []), ...(request.toolsets ?? [])]) {
    const why = DELEGATE_BLOCKED_TOOLS[toolName(name)];
    if (why) found.push(deny("blocked-tool", `${name}: ${why}`));
    else if (/^\*$|^all$/.test(toolName(name)))
      found.push(deny("blocked-tool", "All tools includes those that a delegate never gets."));
    else if (request.read_only && request.tools?.includes(name) && !READ_ONLY_TOOLS.has(toolName(name)))
      found.push(deny("read-only", `${name} can change something, and this delegate may only read.`));
  }
  if (request.skip_memory === false)
    found.push(deny("memory", "A delegate neither reads nor writes the memory."));
  if (request.inherit_history || (request.messages?.length ?? 0) > 0 || (request.history?.length ?? 0) > 0)
    found.push(
      deny("fresh-context", "A delegate starts with a conversation of its own, not with its parent's."),
    );
  if (request.task_id !== undefined && request.task_id === request.parent_task_id)
    found.push(
      deny(
        "own-task-id",
        "A delegate has a task id of its own: its files and its terminal are not its parent's.",
      ),
    );
  if (
    request.iterations !== undefined &&
    request.budget_left !== undefined &&
    request.iterations > request.budget_left
  )
    found.push(
      ask(
        "budget",
        `${request.iterations} steps are more than the ${request.budget_left} that are left for all together.`,
      ),
    );
  for (const text of [request.task, request.goal, request.prompt, request.context])
    if (text) found.push(...judgeTask(text, context));
  return found;
}

/** A task that was written by what the parent has read may carry somebody else's orders. */
function judgeTask(text: string, context: Context): Finding[] {
  return context
    .inspect({ kind: "text", input: text, fields: { source: "agent" } })
    .filter(({ action }) => action === "deny")
    .map(({ span: _, ...finding }) => finding);
}
