#!/usr/bin/env node
// npm run suites: builds the prerequisites and runs test/suites/table.ts (see its --help).
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
  entryPoints: ["test/suites/table.ts"],
  outfile: "build/suites/table.mjs",
  bundle: true,
  platform: "node",
  format: "esm",
  logLevel: "warning",
});
const child = spawn("node", ["build/suites/table.mjs", ...words], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("exit", (status) => process.exit(status ?? 1));
