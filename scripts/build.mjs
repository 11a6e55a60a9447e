#!/usr/bin/env node
// Builds dist/: the compiled TypeScript, the native addon and the launcher. Does nothing when all of it is fresh.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
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
  "supervisor.c",
  "wait.c",
  "spawn.c",
  "notify.c",
  "trace.c",
  "change.c",
  "stop.c",
  "tracee.c",
  "memory.c",
  "path.c",
  "pin.c",
  "walk.c",
  "identity.c",
  "act.c",
  "act-open.c",
  "act-file.c",
  "act-socket.c",
  "deputy.c",
].map((f) => `native/${f}`);

const LAUNCHER = ["launch.c", "program.c", "fence.c", "confine.c", "namespace.c", "mount.c", "tree.c"].map(
  (f) => `native/${f}`,
);

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

/** Packages that are files on disk (a compiler, WebAssembly), or that hardly anybody needs. */
const EXTERNAL = ["esbuild", "jsonc-parser", "libsql", "pg", "wasmoon", "re2js"];

function settings(entryPoints) {
  return {
    entryPoints,
    outdir: "dist",
    outbase: "src",
    bundle: true,
    platform: "node",
    target: "node20",
    logLevel: "warning",
  };
}

/** What is started; commands that are loaded when they are used; languages and the guard, when there is a need. */
const COMMANDS = [
  "agent",
  "analyze",
  "approvals",
  "audit",
  "audit-replay",
  "commands",
  "completion",
  "console",
  "diff",
  "doctor",
  "exec",
  "export",
  "fleet",
  "guard",
  "hook",
  "hook-judge",
  "install",
  "learn",
  "man",
  "mcp",
  "mcp-gateway",
  "policy",
  "policy-test",
  "query",
  "remote",
  "shell",
  "simulate",
  "skill",
  "top",
  "trace",
];
const STARTED = ["src/cli/main.ts", "src/session/worker.ts", ...COMMANDS.map((name) => `src/cli/${name}.ts`)];
const LANGUAGES = ["yaml", "lua"].map((name) => `src/policy/${name}/load.ts`);

/** Everything that is started lies one folder below dist. */
const apart = {
  name: "apart",
  setup(build) {
    build.onResolve({ filter: /^\.\/\w+\/load\.js$/ }, ({ path, importer }) => {
      if (!importer.endsWith("src/policy/load.ts")) return undefined;
      return { path: path.replace(/^\.\/(\w+)\/load\.js$/, "../policy/$1/load.cjs"), external: true };
    });
    build.onResolve({ filter: /^\.\.\/deed\/policy\.js$/ }, ({ importer }) =>
      importer.endsWith("src/session/worker.ts") ? { path: "../deed/policy.cjs", external: true } : undefined,
    );
    build.onResolve({ filter: /^\.\/[\w-]+\.js$/ }, ({ path, importer }) => {
      const name = path.slice(2, -3);
      if (
        !/src\/cli\/(main|commands|approving|auditing|behaviour|serving|skills|tools|agents|pages)\.ts$/.test(
          importer,
        ) ||
        !COMMANDS.includes(name)
      )
        return undefined;
      return { path: `./${name}.cjs`, external: true };
    });
  },
};

/**
 * Node works for every module that it loads, and more for a thread that loads ES modules. So what is started is one
 * CommonJS file each, and so is each language; what is imported, an ES module.
 */
async function bundle() {
  const esbuild = await import("esbuild").catch(() => fail("esbuild is missing. Run npm ci first."));
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  await esbuild.build({
    ...settings(["src/index.ts", "src/guard/index.ts", "src/tools/index.ts"]),
    format: "esm",
    splitting: true,
    chunkNames: "shared/[name]-[hash]",
    external: Object.keys(dependencies),
  });
  const commonJs = {
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    external: EXTERNAL,
    minifyWhitespace: true, // less to read at each start; names stay, for stack traces
    define: { "import.meta.url": "importMetaUrl" },
    banner: { js: `const importMetaUrl = require("node:url").pathToFileURL(__filename).href;` },
  };
  // import() goes through the loader of ES modules, require() does not. Only TypeScript policies need import().
  const required = { ...commonJs, supported: { "dynamic-import": false } };
  await esbuild.build({ ...settings(STARTED), ...required, plugins: [apart] });
  await esbuild.build({ ...settings([...LANGUAGES, "src/deed/policy.ts"]), ...required });
  await esbuild.build({ ...settings(["src/policy/typescript/load.ts"]), ...commonJs });
}

/**
 * What V8 makes of the hook's bundle, kept beside it (src/cli/hook.ts): after a call, so that what a call needs is in it.
 * V8 compares only the length of the text, so it is made anew with every bundle, and never outlives one.
 */
function precompile() {
  const home = mkdtempSync(join(tmpdir(), "hermes-build-"));
  const call = JSON.stringify({
    session_id: "build",
    cwd: home,
    hook_event_name: "PreToolUse",
    tool_name: "Bash",
    tool_input: { command: "git status && npm test" },
  });
  const { status, stderr } = spawnSync(
    process.execPath,
    ["scripts/precompile.cjs", "dist/cli/hook-judge.cjs", call],
    {
      env: { PATH: process.env.PATH, HOME: home, HERMES_HOME: home },
      encoding: "utf8",
    },
  );
  rmSync(home, { recursive: true, force: true });
  if (status !== 0) fail(`the hook's bundle cannot be compiled: ${stderr}`);
}

await step(
  "typescript",
  ["src", "tsconfig.json", "package.json", "package-lock.json", "scripts/build.mjs"],
  async () => {
    rmSync("dist/shared", { recursive: true, force: true });
    rmSync("dist/cli/hook-judge.cjs.cache", { force: true });
    await bundle();
    precompile();
    run("node", ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json", "--emitDeclarationOnly"]);
  },
);

/** The manual page, which npm installs with the command. */
await step("man", ["src/cli", "package.json", "scripts/build.mjs"], () => {
  const { stdout, status } = spawnSync(process.execPath, ["dist/cli/main.cjs", "man"]);
  if (status !== 0) fail("the manual page could not be made");
  writeFileSync("dist/hermes.1", stdout);
});

/** A page: one script and one style sheet. */
async function page(name, outdir) {
  const esbuild = await import("esbuild");
  const all = { outdir, bundle: true, minify: true, logLevel: "warning" };
  await esbuild.build({
    ...all,
    entryPoints: { [name]: `web/${name}/main.ts` },
    format: "iife",
    target: "es2022",
    charset: "utf8",
  });
  await esbuild.build({ ...all, entryPoints: [`web/${name}/${name}.css`] });
}

/** What goes into every report of `hermes analyze --html`. */
await step("report", ["web/report", "src/analyze", "package-lock.json", "scripts/build.mjs"], () =>
  page("report", "dist/report"),
);

/** The page of `hermes console`. */
await step(
  "console",
  ["web/console", "web/report", "src/analyze/format.ts", "src/audit/records.ts", "scripts/build.mjs"],
  async () => {
    await page("console", "dist/web/console");
    for (const name of ["index.html", "icon.svg"])
      copyFileSync(`web/console/${name}`, `dist/web/console/${name}`);
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
    // Static, so that it also starts in a container whose image has another C library, or none.
    run("gcc", [...CFLAGS, "-static-pie", "-o", "dist/native/hermes-launch", ...LAUNCHER]);
  });
} else {
  process.stderr.write(
    `build: no native part for ${process.platform}-${process.arch}; only what needs no kernel will work\n`,
  );
}
