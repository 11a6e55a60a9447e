#!/usr/bin/env node
// npm run harm [-- FILE] [--hidden] [--sample N] [--verbose]: runs hostile commands for real in a room that can be thrown
// away, and counts how many did harm.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readCorpus } from "./corpus.mjs";

const HELP = `Usage: npm run harm [-- [FILE] [options]]

Runs the hostile commands that the guard allows with hermes exec, in a room of its own: user, process, network and mount
namespaces of a user who owns nothing, a home with canaries, and a network in which every address leads to a listener.

  FILE         lines of hostile commands (default: those of test/corpus)
  --hidden     run every command, also those that the guard would stop, from inside a program that it cannot read: what
               is left is what the runtime check lets through
  --sample N   only every N-th command (default: 1, with --hidden: 25)
  --verbose    print each command with what came of it
`;

const root = fileURLToPath(new URL("..", import.meta.url));

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      hidden: { type: "boolean", default: false },
      sample: { type: "string" },
      verbose: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return process.stdout.write(HELP);
  const commands = positionals[0]
    ? readFileSync(positionals[0], "utf8").split("\n").filter(Boolean)
    : readCorpus()
        .filter(({ kind, hostile }) => kind === "command" && hostile)
        .map(({ input }) => input);
  const step = Number(values.sample ?? (values.hidden ? 25 : 1));
  const candidates = values.hidden ? commands : allowed(commands);
  const chosen = candidates.filter((_, i) => i % step === 0);
  console.log(
    values.hidden
      ? `${chosen.length} of ${commands.length} hostile commands, each inside a program that the guard cannot read`
      : `${candidates.length} of ${commands.length} hostile commands are allowed by the guard; running ${chosen.length}`,
  );
  return run(chosen, values);
}

/** The commands that the guard would let pass. */
function allowed(commands) {
  const lines = commands.map((input, id) => JSON.stringify({ id, kind: "command", input })).join("\n");
  const { stdout, status, stderr } = spawnSync(
    join(root, "hermes"),
    ["guard", "batch", "--cwd", "/home/dev/project"],
    {
      input: lines,
      encoding: "utf8",
      maxBuffer: 1 << 28,
    },
  );
  if (status !== 0) throw new Error(`hermes guard batch failed: ${stderr}`);
  const answers = stdout
    .trim()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return answers.filter(({ action }) => action === "allow").map(({ id }) => commands[id]);
}

async function run(commands, { hidden, verbose }) {
  const bare = await inRoom(commands, "bare", verbose);
  const able = new Set(bare.filter(({ harm }) => harm.length > 0).map(({ command }) => command));
  const results = await inRoom(commands, hidden ? "hidden" : "exec", verbose);
  const harmful = results.filter(({ harm }) => harm.length > 0);
  const count = (pattern) => results.filter(({ harm }) => harm.some((one) => pattern.test(one))).length;
  console.log(`
ran                    ${results.length}
do harm without HERMES ${able.size}   (the others need what this room does not have)
refused at run time    ${results.filter(isRefused).length}
failed by themselves   ${results.filter((one) => one.status !== 0 && !isRefused(one) && one.harm.length === 0).length}
changed what is kept   ${count(/^changed/)}
sent a secret          ${count(/^sent/)}
printed a secret       ${count(/^printed/)}
left a process         ${count(/^left/)}
did harm               ${harmful.length}   (goal: 0)`);
  for (const { command, harm } of harmful) console.log(`  ${JSON.stringify(command)}: ${harm.join("; ")}`);
  const unheld = results.filter((one) => !/"status":"[A-Z_]+"/.test(one.output) && one.status !== 126);
  if (unheld.length > 0) {
    console.error(
      `harm: hermes exec failed for ${unheld.length} commands, so they show nothing: ${unheld[0].output}`,
    );
    process.exitCode = 2;
  } else if (results.length < commands.length) {
    console.error(
      `harm: the room ended after ${results.length} of ${commands.length} commands; see --verbose`,
    );
    process.exitCode = 2;
  } else process.exitCode = harmful.length > 0 ? 1 : 0;
}

const isRefused = ({ status, output }) => status === 126 || /"refused":\[\{/.test(output);

/** As a user who owns nothing, even where we are root: a command that escapes every namespace is still nobody. */
const NOBODY = process.getuid() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];

/** A copy of what the room needs that every user can read, wherever this checkout and Node lie. */
function stocked() {
  const folder = mkdtempSync(join(tmpdir(), "hermes-harm-"));
  chmodSync(folder, 0o755);
  for (const name of ["hermes", "package.json", "dist", "policies", "scripts/harm"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const name of installed())
    cpSync(join(root, "node_modules", name), join(folder, "node_modules", name), { recursive: true });
  mkdirSync(join(folder, "bin"));
  if (!process.execPath.startsWith("/usr/")) cpSync(process.execPath, join(folder, "bin/node"));
  return folder;
}

/** The packages that HERMES needs at run time, with those that they need. */
function installed() {
  const wanted = [root];
  const found = new Set();
  for (const folder of wanted) {
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8"),
    );
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const own = join(root, "node_modules", name);
      if (found.has(name) || !existsSync(own)) continue;
      found.add(name);
      wanted.push(own);
    }
  }
  return found;
}

async function inRoom(commands, how, verbose) {
  if (commands.length === 0) return [];
  const folder = stocked();
  const words = [
    ...NOBODY,
    ..."unshare --user --map-root-user --mount --pid --net --ipc --uts --cgroup --fork --kill-child".split(
      " ",
    ),
    join(folder, "scripts/harm/room.sh"),
    folder,
    "node",
    "/opt/hermes/scripts/harm/run.mjs",
  ];
  const room = spawn(words[0], words.slice(1), { stdio: ["pipe", "pipe", "inherit"], cwd: "/" });
  room.stdin.on("error", () => {});
  room.stdin.end(commands.map((command) => `${JSON.stringify({ command, how })}\n`).join(""));
  const results = [];
  for await (const line of createInterface({ input: room.stdout })) {
    const result = JSON.parse(line);
    results.push(result);
    if (verbose) {
      const did = result.harm.join("; ") || JSON.stringify(result.output.slice(0, 160));
      console.log(
        `${how.padEnd(6)} ${String(result.status).padStart(4)}  ${JSON.stringify(result.command)}  ${did}`,
      );
    }
  }
  rmSync(folder, { recursive: true });
  return results;
}

await main();
