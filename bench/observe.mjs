// node bench/observe.mjs FUNCTION COMMAND…: runs a command while calls of a function are recorded in the fast tier.
import { run } from "hermes-runtime";

const [name, ...command] = process.argv.slice(2);
const { exitCode, fast } = await run({
  command,
  fence: "none",
  fast: true,
  trace: { file: "/dev/null", events: ["getppid"], functions: [name], overflow: "drop" },
});
const calls = Object.values(fast.counts).reduce((sum, count) => sum + count, 0);
process.stderr.write(`${JSON.stringify({ calls, lost: fast.lost })}\n`);
process.exitCode = exitCode;
