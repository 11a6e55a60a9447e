// A small MCP server over stdio: `page` returns what the file in its first argument holds, `note` writes its argument there.
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , page, log] = process.argv;
const text = { type: "object", properties: { path: { type: "string" } } };
const TOOLS = [
  { name: "page", description: "Reads the page of today.", inputSchema: text },
  { name: "open_file", description: "Opens a file.", inputSchema: text },
];

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "pages", version: "1" },
  }),
  "tools/list": () => ({ tools: TOOLS }),
  "tools/call": ({ name, arguments: input = {} }) => {
    appendFileSync(log, `${JSON.stringify({ name, input })}\n`);
    return { content: [{ type: "text", text: readFileSync(name === "page" ? page : input.path, "utf8") }] };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const body = answer
    ? { result: answer(params) }
    : { error: { code: -32601, message: `no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
}
