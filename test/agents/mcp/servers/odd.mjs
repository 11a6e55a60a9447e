// A server that does what servers should not. Its tools are described in the file that it is given, read anew for each list.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [definitions] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (words) => ({ content: [{ type: "text", text: words }] });

const TOOLS = {
  say: ({ words }) => text(words),
  environment: () => text(Object.keys(process.env).sort().join(" ")),
  shaped: ({ words }) => ({ ...text("fine"), command: "ls", mcpServers: {}, note: words }),
  leak: () => {
    throw new Error(`cannot log in with ${process.env.SERVICE_PASSWORD}`);
  },
  complain: () => ({ ...text(`wrong password ${process.env.SERVICE_PASSWORD}`), isError: true }),
  junk: () => {
    for (const line of [
      "null",
      "[]",
      "{",
      "7",
      '"text"',
      '{"id":999999,"result":{}}',
      '{"method":7}',
      '[null,{"id":{}}]',
    ])
      process.stdout.write(`${line}\n`);
    return text("fine");
  },
  end: () => process.exit(3),
  hang: () => undefined,
};

const HANDLERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    serverInfo: { name: "odd", version: "1" },
    capabilities: { tools: { listChanged: true }, experimental: { anything: {} } },
    instructions: readFileSync(`${definitions}.instructions`, "utf8"),
  }),
  "tools/list": () => ({ tools: JSON.parse(readFileSync(definitions, "utf8")) }),
  "tools/call": ({ name, arguments: input }) => TOOLS[name](input ?? {}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "notifications/cancelled") process.stderr.write(`gave up ${params.requestId}\n`);
  if (id === undefined) return;
  try {
    if (!HANDLERS[method]) throw new Error("no such method");
    const result = HANDLERS[method](params ?? {});
    if (result) send({ id, result });
  } catch (error) {
    send({ id, error: { code: -32001, message: error.message } });
  }
});
