import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Toolbox } from "hermes-runtime/tools";
import { printTable, summarise } from "./stats.mjs";
import { available, built } from "./tools.mjs";

const SANDBOX_RUNTIME = "@anthropic-ai/sandbox-runtime@0.0.83";
const COMMAND = "true";
const MANY = 200;

/** What it costs to run `true` as an agent's command: in an agent that is already running, and next to its peers. */
export async function exec({ rounds }) {
  const folder = mkdtempSync(join(homedir(), ".hermes-bench-"));
  const [workspace, home] = ["workspace", "home"].map((name) => join(folder, name));
  for (const path of [workspace, home]) mkdirSync(path);
  const env = { PATH: process.env.PATH, HOME: home, HERMES_HOME: home };
  const toolbox = await Toolbox.open({ workspace, home, store: join(folder, "hermes.db"), env });
  try {
    const subjects = [
      { name: "bare spawn", act: () => spawned(["bash", "-c", COMMAND], workspace, env) },
      { name: "terminal_exec, warm", act: () => called(toolbox, COMMAND, 0) },
      ...peers(workspace, env),
    ];
    const samples = await interleaved(rounds * 2, subjects);
    const table = printTable(`terminal_exec("${COMMAND}") and what others take for it`, "ms", samples, GOALS);
    const over = samples.get("terminal_exec, warm").map((time, i) => time - samples.get("bare spawn")[i]);
    const { median } = summarise(over);
    process.stdout.write(`  over a bare spawn: ${median.toFixed(1)} ms, median (goal ≤ 25)\n`);
    const from = performance.now();
    const done = await Promise.all(
      Array.from({ length: MANY }, (_, i) => called(toolbox, `exit ${i % 200}`, i % 200)),
    );
    process.stdout.write(
      `  ${MANY} at once: ${done.length} right, ${Math.round(performance.now() - from)} ms\n`,
    );
    return [{ ...table, overBareSpawn: median, atOnce: done.length }];
  } finally {
    await toolbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const GOALS = [{ subject: "terminal_exec, warm", against: "srt", atMost: 1 }];

async function called(toolbox, command, wanted) {
  const { status, output, reason } = await toolbox.call("terminal_exec", { command, timeout: 120 });
  if (status !== "DONE" || output.exitCode !== wanted)
    throw new Error(`terminal_exec: ${status} ${reason ?? output.exitCode}`);
}

function spawned([program, ...args], cwd, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    child.stderr.on("data", (bytes) => (said += bytes));
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`${program}: exit ${code}: ${said}`)),
    );
  });
}

/** Those that can be had. A peer that does not run here is said not to. */
function peers(workspace, env) {
  const found = [];
  if (available("bwrap"))
    found.push({
      name: "bwrap",
      argv: [
        "bwrap",
        "--ro-bind",
        "/",
        "/",
        "--bind",
        workspace,
        workspace,
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--unshare-pid",
        "--die-with-parent",
        "bash",
        "-c",
        COMMAND,
      ],
    });
  const srt = sandboxRuntime();
  if (srt) found.push({ name: "srt", argv: [process.execPath, srt, COMMAND] });
  return found.flatMap(({ name, argv }) => {
    const tried = spawnSync(argv[0], argv.slice(1), { cwd: workspace, env, encoding: "utf8" });
    if (tried.status === 0) return [{ name, act: () => spawned(argv, workspace, env) }];
    process.stdout.write(
      `bench: ${name} does not run here: ${(tried.stderr || String(tried.error)).trim().split("\n")[0]}\n`,
    );
    return [];
  });
}

/** Its command, installed when it is not there yet. */
function sandboxRuntime() {
  const folder = join(built, "srt");
  const cli = join(folder, "node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js");
  if (!existsSync(cli)) {
    mkdirSync(folder, { recursive: true });
    spawnSync("npm", ["install", "--no-save", "--prefix", folder, SANDBOX_RUNTIME], { stdio: "ignore" });
  }
  if (existsSync(cli)) return cli;
  process.stdout.write("bench: srt cannot be installed here\n");
  return undefined;
}

async function interleaved(rounds, subjects) {
  const samples = new Map(subjects.map(({ name }) => [name, []]));
  for (const { act } of subjects) for (let i = 0; i < 3; i++) await act();
  for (let round = 0; round < rounds; round++)
    for (const { name, act } of subjects) {
      const from = performance.now();
      await act();
      samples.get(name).push(performance.now() - from);
    }
  return samples;
}
