// HERMES's tools in a loop of your own: one call per line of stdin, one result per line of stdout.
//   echo '{"tool": "terminal_exec", "input": {"command": "uname -s"}}' | node examples/own-loop.mjs
import { createInterface } from "node:readline";
import { Toolbox } from "hermes-runtime/tools";

const toolbox = await Toolbox.open({ workspace: "." });
for await (const line of createInterface({ input: process.stdin })) {
  const { tool, input } = JSON.parse(line);
  console.log(JSON.stringify(await toolbox.call(tool, input)));
}
await toolbox.close();
