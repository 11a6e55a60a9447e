#!/usr/bin/env node
// npm run attacks: builds the prerequisites and runs test/attacks/table.ts (see its --help).
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const words = process.argv.slice(2).filter((word) => word !== "--no-build");
if (!process.argv.includes("--no-build")) {
  const { status } = spawnSync("node", ["scripts/build.mjs", "--quiet"], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
await build({
  entryPoints: ["test/attacks/table.ts"],
  outfile: "build/attacks/table.mjs",
  bundle: true,
  platform: "node",
  format: "esm",
  logLevel: "warning",
});
// Signals are handled by the table alone: it stops the current attack and prints the results so far.
const child = spawn("node", ["build/attacks/table.mjs", ...words], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("exit", (status) => process.exit(status ?? 1));
