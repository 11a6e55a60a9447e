import type { ServerResponse } from "node:http";
import { type Protocol, type Step, stream, textIn } from "./protocol.js";

/** Anthropic Messages. */
export const anthropic: Protocol = {
  path: /\/v1\/messages(?:\?|$)/,
  read({ tools = [], messages = [] }) {
    const contents = messages.flatMap(({ content }: { content: unknown }) =>
      Array.isArray(content) ? content : [],
    );
    return {
      task: textIn(messages[0]),
      tools: tools.map(({ name }: { name: string }) => name),
      results: contents
        .filter(({ type }: { type: string }) => type === "tool_result")
        .map(({ content }: { content: unknown }) => textIn(content)),
    };
  },
  write(step, at, { body }, response) {
    const block =
      "say" in step
        ? { type: "text", text: step.say }
        : { type: "tool_use", id: `toolu_${at}`, name: step.tool, input: step.input };
    const message = {
      id: `msg_${at}`,
      type: "message",
      role: "assistant",
      model: body.model,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const stop_reason = "say" in step ? "end_turn" : "tool_use";
    if (body.stream === true) {
      stream(response);
      streamed(message, block, step, stop_reason, response);
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...message, content: [block], stop_reason }));
  },
};

function streamed(
  message: object,
  block: object,
  step: Step,
  stop_reason: string,
  response: ServerResponse,
): void {
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  send("message_start", { message: { ...message, content: [], stop_reason: null } });
  const empty = "say" in step ? { ...block, text: "" } : { ...block, input: {} };
  send("content_block_start", { index: 0, content_block: empty });
  const delta =
    "say" in step
      ? { type: "text_delta", text: step.say }
      : { type: "input_json_delta", partial_json: JSON.stringify(step.input) };
  send("content_block_delta", { index: 0, delta });
  send("content_block_stop", { index: 0 });
  send("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } });
  send("message_stop", {});
  response.end();
}
