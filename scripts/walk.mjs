#!/usr/bin/env node
// Counts how many source files one thing passes through: what a newcomer has to open to follow it.
//   node scripts/walk.mjs            the table
//   node scripts/walk.mjs openat     the files of one walk, in the order in which they are first entered
// Each walk runs the real code, compiled file by file, and asks V8 which functions ran (precise coverage).
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const BUILT = join(root, "build/walk");
const WALKS = {
  openat: "one openat of a program under policies/agent.yaml that is decided, from the stop to the answer",
  hook: "one hook call of Claude Code (`git status`), from its JSON to the answer",
  exec: "`hermes exec 'ls -a'`, in the process that was started",
};

/** Which functions ran since the last look. */
class Coverage {
  #session = new Session();

  constructor() {
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  }

  take() {
    let found = [];
    this.#session.post("Profiler.takePreciseCoverage", (error, { result }) => {
      if (error) throw error;
      found = result;
    });
    const ours = found.filter(({ url }) => url.startsWith(pathToFileURL(BUILT).href));
    const file = ({ url }) => url.slice(pathToFileURL(BUILT).href.length + 1).replace(/\.js$/, ".ts");
    const isModule = ({ functionName, ranges }) => functionName === "" && ranges[0].startOffset === 0;
    const ran = ({ functions }) => functions.some((one) => !isModule(one) && one.ranges[0].count > 0);
    return { used: ours.filter(ran).map(file), loaded: ours.length };
  }
}

const [name, inside] = process.argv.slice(2);
if (inside === "--inside") await walk(name);
else if (name === undefined || name in WALKS) await report(name);
else {
  process.stderr.write(`walk: ${name} is none of ${Object.keys(WALKS).join(", ")}\n`);
  process.exit(1);
}

/** Every walk has a process of its own, so that none finds warm what another has loaded. */
async function report(only) {
  await compile();
  for (const one of only ? [only] : Object.keys(WALKS)) {
    const folder = mkdtempSync(join(tmpdir(), "hermes-walk-"));
    const out = join(folder, "walk.json");
    const env = { ...process.env, HERMES_HOME: folder, HERMES_WALK: out };
    const { status, stderr } = spawnSync(process.execPath, [process.argv[1], one, "--inside"], {
      cwd: folder,
      env,
      encoding: "utf8",
      input: hookCall(folder),
    });
    let walked;
    try {
      walked = JSON.parse(readFileSync(out, "utf8"));
    } catch {
      process.stderr.write(`walk: ${one} failed (status ${status})\n${stderr}`);
      process.exit(1);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    process.stdout.write(
      `${one}: ${walked.used.length} files used, ${walked.loaded} loaded: ${WALKS[one]}\n`,
    );
    if (only) process.stdout.write(`${walked.used.map((file) => `  src/${file}\n`).join("")}`);
  }
}

function hookCall(cwd) {
  const call = { tool_name: "Bash", tool_input: { command: "git status" } };
  return JSON.stringify({ session_id: "walk", cwd, hook_event_name: "PreToolUse", ...call });
}

async function compile() {
  const esbuild = await import("esbuild");
  rmSync(BUILT, { recursive: true, force: true });
  await esbuild.build({
    entryPoints: [join(root, "src/**/*.ts")],
    outbase: join(root, "src"),
    outdir: BUILT,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "error",
  });
}

function load(path) {
  return import(pathToFileURL(join(BUILT, path)).href);
}

/** How many modules of ours were loaded, although precise coverage names only those that ran since the last look. */
async function walk(which) {
  const coverage = new Coverage();
  const found = await { openat, hook, exec }[which](coverage);
  writeFileSync(process.env.HERMES_WALK, JSON.stringify(found));
  process.exit(0);
}

async function openat(coverage) {
  const { supervise } = await load("session/supervise.js");
  const { Mediator } = await load("session/mediate.js");
  const { PolicyStack } = await load("policy/stack.js");
  const { loaded } = coverage.take();
  let path;
  const { decide } = PolicyStack.prototype;
  PolicyStack.prototype.decide = function (event) {
    path = event.name === "openat" ? event.path : undefined;
    return decide.call(this, event);
  };
  const walks = new Map();
  const { handle } = Mediator.prototype;
  Mediator.prototype.handle = function (kind) {
    path = undefined;
    coverage.take();
    const hold = handle.call(this, kind);
    const { used } = coverage.take();
    if (path) walks.set(path, used);
    return hold;
  };
  const files = ["a", "b", "c"].map((one) => join(process.cwd(), one));
  for (const file of files) writeFileSync(file, "");
  const { sessionOptions } = await load("session/run.js");
  const options = sessionOptions({
    command: ["cat", ...files],
    view: "off",
    policy: join(root, "policies/agent.yaml"),
  });
  await supervise({ options }, { report: () => {}, orders: () => undefined });
  return { used: walks.get(files[2]), loaded };
}

async function hook(coverage) {
  const { judgeInProcess } = await load("cli/commands/hook-judge.js");
  const text = readFileSync(0, "utf8");
  const { loaded } = coverage.take();
  await judgeInProcess("claude-code", text, undefined);
  return { used: coverage.take().used, loaded };
}

async function exec(coverage) {
  const { execCommand } = await load("cli/commands/exec.js");
  const { loaded } = coverage.take();
  await execCommand("ls -a", { workspace: process.cwd(), ask: "queue" });
  return { used: coverage.take().used, loaded };
}
