import { type Protocol, stream, textIn } from "./protocol.js";

const RESULTS = [
  "function_call_output",
  "custom_tool_call_output",
  "mcp_tool_call_output",
  "local_shell_call_output",
];

/** OpenAI Responses. */
export const responses: Protocol = {
  path: /\/responses(?:\?|$)/,
  read({ tools = [], input = [] }) {
    const items = Array.isArray(input) ? input : [];
    const said = items.filter(
      ({ type, role }: { type: string; role?: string }) => type === "message" && role === "user",
    );
    return {
      task: textIn(said),
      tools: tools.map(({ name, type }: { name?: string; type: string }) => name ?? type),
      results: items
        .filter(({ type }: { type: string }) => RESULTS.includes(type))
        .map(({ output }: { output: unknown }) => textIn(output)),
    };
  },
  write(step, at, { body }, response) {
    const id = `resp_${at}`;
    const shape = { id, object: "response", model: body.model, status: "completed" };
    const call = { id: `fc_${at}`, call_id: `call_${at}`, status: "completed" };
    const item =
      "say" in step
        ? {
            type: "message",
            id: `msg_${at}`,
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: step.say, annotations: [] }],
          }
        : typeof step.input === "string"
          ? { type: "custom_tool_call", ...call, name: step.tool, input: step.input }
          : { type: "function_call", ...call, ...named(step.tool), arguments: JSON.stringify(step.input) };
    stream(response);
    const send = (type: string, data: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    send("response.created", { response: { ...shape, status: "in_progress", output: [] } });
    send("response.output_item.added", { output_index: 0, item });
    send("response.output_item.done", { output_index: 0, item });
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    send("response.completed", { response: { ...shape, output: [item], usage } });
    response.end();
  },
};

/** Tools of a namespace (MCP servers) are called by both names. */
function named(tool: string): object {
  const [namespace, name] = tool.split("/");
  return name === undefined ? { name: tool } : { namespace, name };
}
