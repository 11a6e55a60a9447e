#!/usr/bin/env node
// npm run attacks: builds what is needed and runs test/attacks/table.ts, which says how with --help.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
if (spawnSync("node", ["scripts/build.mjs", "--quiet"], { stdio: "inherit" }).status !== 0) process.exit(1);
await build({
  entryPoints: ["test/attacks/table.ts"],
  outfile: "build/attacks/table.mjs",
  bundle: true,
  platform: "node",
  format: "esm",
  logLevel: "warning",
});
const { status } = spawnSync("node", ["build/attacks/table.mjs", ...process.argv.slice(2)], {
  stdio: "inherit",
});
process.exit(status ?? 1);
