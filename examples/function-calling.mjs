// A model that calls functions, over the chat API that most servers speak, with HERMES's tools:
//   OPENAI_BASE_URL=http://127.0.0.1:11434/v1 MODEL=qwen3 node examples/function-calling.mjs "What is in this folder?"
import { Toolbox } from "hermes-runtime/tools";

const {
  OPENAI_BASE_URL = "https://api.openai.com/v1",
  OPENAI_API_KEY = "",
  MODEL = "gpt-4o-mini",
} = process.env;
const messages = [{ role: "user", content: process.argv[2] ?? "What is in this folder?" }];
const toolbox = await Toolbox.open({ workspace: ".", agent: "function-calling" });

for (let step = 0; step < 20; step++) {
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({ model: MODEL, messages, tools: toolbox.definitions }),
  });
  if (!response.ok) throw new Error(`the model's server says ${response.status}: ${await response.text()}`);
  const { message } = (await response.json()).choices[0];
  messages.push(message);
  if (!message.tool_calls?.length) {
    console.log(message.content);
    break;
  }
  for (const { id, function: called } of message.tool_calls) {
    const result = await toolbox.call(called.name, parsed(called.arguments));
    console.error(`${called.name}: ${result.status}`);
    messages.push({ role: "tool", tool_call_id: id, content: JSON.stringify(result) });
  }
}
await toolbox.close();

/** Models write JSON that is none now and then: the toolbox tells them what is wrong. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
