#!/usr/bin/env node
// Builds dist/: the compiled TypeScript, the native addon and the launcher. Does nothing when all of it is fresh.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root);
const quiet = process.argv.includes("--quiet");
const force = process.argv.includes("--force");

const CFLAGS = [
  "-O2",
  "-std=gnu11",
  "-Wall",
  "-Wextra",
  "-Werror",
  "-fstack-protector-strong",
  "-D_FORTIFY_SOURCE=2",
];
const ADDON = [
  "addon.c",
  "wait.c",
  "spawn.c",
  "notify.c",
  "trace.c",
  "stop.c",
  "tracee.c",
  "memory.c",
  "path.c",
].map((f) => `native/${f}`);

function newest(path) {
  const info = statSync(path);
  if (!info.isDirectory()) return info.mtimeMs;
  return Math.max(info.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

function fresh(stamp, inputs) {
  return !force && existsSync(stamp) && inputs.every((input) => newest(input) <= statSync(stamp).mtimeMs);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, {
    stdio: ["ignore", quiet ? "ignore" : "inherit", "inherit"],
  });
  if (error)
    fail(
      `${command} cannot be started (${error.code}). ${command === "gcc" ? "Install it, for example with: apt-get install gcc libc6-dev" : "Run npm ci first."}`,
    );
  if (status !== 0) fail(`${command} failed`);
}

function fail(message) {
  process.stderr.write(`build: ${message}\n`);
  process.exit(1);
}

async function step(name, inputs, act) {
  const stamp = `dist/.${name}`;
  if (fresh(stamp, inputs)) return;
  if (!quiet) process.stderr.write(`build: ${name}\n`);
  mkdirSync("dist/native", { recursive: true });
  rmSync(stamp, { force: true });
  await act();
  writeFileSync(stamp, "");
}

/** What is started or imported by its name. Everything else becomes part of these, or is shared by them. */
const ENTRIES = ["src/index.ts", "src/cli/main.ts", "src/session/worker.ts"];

/** Node works for every module that it loads: as a few files, a run starts with about a seventh less CPU time. */
async function bundle() {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const esbuild = await import("esbuild").catch(() => fail("esbuild is missing. Run npm ci first."));
  const { metafile } = await esbuild.build({
    entryPoints: ENTRIES,
    outdir: "dist",
    outbase: "src",
    bundle: true,
    splitting: true,
    chunkNames: "shared/[name]-[hash]",
    format: "esm",
    platform: "node",
    target: "node20",
    external: Object.keys(dependencies).filter((name) => name !== "commander"),
    // Commander is CommonJS and asks for Node's own modules by require().
    banner: {
      js: `import * as nodeModule from "node:module"; const require = nodeModule.createRequire(import.meta.url);`,
    },
    metafile: true,
    logLevel: "warning",
  });
  const kept = new Set(Object.keys(metafile.outputs));
  for (const name of readdirSync("dist/shared"))
    if (!kept.has(`dist/shared/${name}`)) rmSync(`dist/shared/${name}`);
}

await step(
  "typescript",
  ["src", "tsconfig.json", "package.json", "package-lock.json", "scripts/build.mjs"],
  async () => {
    await bundle();
    run("node", ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json", "--emitDeclarationOnly"]);
  },
);

if (process.platform === "linux" && process.arch === "x64") {
  await step("native", ["native", "scripts/build.mjs"], () => {
    run("gcc", [
      ...CFLAGS,
      "-shared",
      "-fPIC",
      "-I",
      "node_modules/node-api-headers/include",
      "-o",
      "dist/native/hermes.node",
      ...ADDON,
      "-lpthread",
      "-lrt",
    ]);
    run("gcc", [...CFLAGS, "-o", "dist/native/hermes-launch", "native/launch.c"]);
  });
} else {
  process.stderr.write(
    `build: no native part for ${process.platform}-${process.arch}; only what needs no kernel will work\n`,
  );
}
