import { type Finding, findings } from "../finding.js";
import type { Context, Layer } from "../layer.js";
import { type DelegationRequest, delegationRequest } from "./request.js";
import { DELEGATE_BLOCKED_TOOLS, MAX_DEPTH, READ_ONLY_TOOLS, toolName } from "./tools.js";

const { deny, ask } = findings("delegation");

/** What an agent may pass to an agent that it starts. */
export const delegationLayer: Layer = {
  name: "delegation",
  kinds: ["delegation"],
  check({ input }, context) {
    if (!input.trimStart().startsWith("{")) return judgeTask(input, context);
    let value: unknown;
    try {
      value = JSON.parse(input);
    } catch (error) {
      return [deny("bad-request", `The request is not valid JSON: ${(error as Error).message}`)];
    }
    const request = delegationRequest.safeParse(value);
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

function judge(request: DelegationRequest, context: Context): Finding[] {
  const found: Finding[] = [];
  const { depth = 0 } = request;
  if (depth + 1 >= MAX_DEPTH)
    found.push(deny("depth", `An agent at depth ${depth} cannot delegate: only the main agent can.`));
  for (const name of [...(request.tools ?? []), ...(request.toolsets ?? [])]) {
    const why = DELEGATE_BLOCKED_TOOLS[toolName(name)];
    if (why) found.push(deny("blocked-tool", `${name}: ${why}`));
    else if (/^\*$|^all$/.test(toolName(name)))
      found.push(
        deny("blocked-tool", "All tools would include those that a delegate never gets. Name the tools."),
      );
    else if (request.read_only && request.tools?.includes(name) && !READ_ONLY_TOOLS.has(toolName(name)))
      found.push(deny("read-only", `${name} can change something, and this delegate may only read.`));
  }
  if (request.skip_memory === false)
    found.push(deny("memory", "A delegate may not read or write the memory."));
  if (request.inherit_history || (request.messages?.length ?? 0) > 0 || (request.history?.length ?? 0) > 0)
    found.push(deny("fresh-context", "A delegate starts with its own conversation, not with its parent's."));
  if (request.task_id !== undefined && request.task_id === request.parent_task_id)
    found.push(
      deny(
        "own-task-id",
        "A delegate needs its own task id: it does not share its parent's files and terminal.",
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
        `${request.iterations} steps exceed the ${request.budget_left} that the agent and its delegates have left.`,
      ),
    );
  for (const text of [request.task, request.goal, request.prompt, request.context])
    if (text) found.push(...judgeTask(text, context));
  return found;
}

/** A task may contain instructions that the parent read elsewhere, so it is judged as text. */
function judgeTask(text: string, context: Context): Finding[] {
  return context
    .inspect({ kind: "text", input: text, fields: { source: "agent" } })
    .filter(({ action }) => action === "deny")
    .map(({ span: _, ...finding }) => finding);
}
