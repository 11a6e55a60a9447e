import { spawn } from "node:child_process";
import { join } from "node:path";
import { Toolbox } from "hermes-runtime/tools";
import { envOf, makePlace } from "./place.mjs";
import { printChecks, printTable } from "./print.mjs";
import { summarise } from "./stats.mjs";
import { systemsHere } from "./systems.mjs";

const COMMAND = "true";
const MANY = 200;
const PEERS = ["bubblewrap", "srt", "codex"];
const OURS = "terminal_exec, warm";
const GOALS = [{ subject: OURS, against: "srt", atMost: 1 }];
const MS_OVER_AT_MOST = 25;

/** The cost of running `true` as an agent's command: in a running agent, and in comparable tools. */
export async function exec({ rounds, cannot }) {
  const place = makePlace();
  const { workspace, home, folder } = place;
  const env = envOf(place);
  const toolbox = await Toolbox.open({ workspace, home, store: join(folder, "hermes.db"), env });
  try {
    const shell = ["bash", "-c", COMMAND];
    const subjects = [
      { name: "bare spawn", act: () => spawned(shell, workspace, env) },
      { name: OURS, act: () => called(toolbox, COMMAND, 0) },
      ...systemsHere(place, PEERS, cannot).map(({ name, prefix }) => ({
        ...{ name, act: () => spawned([...prefix, ...shell], workspace, env) },
      })),
    ];
    const samples = await interleaved(rounds * 2, subjects);
    const about = { name: "a command of an agent", ours: OURS, bare: "bare spawn", peers: PEERS };
    const title = `terminal_exec("${COMMAND}") and what others take for it`;
    const table = printTable(title, "ms", samples, GOALS, about);
    const over = overBare(samples, OURS, "bare spawn", MS_OVER_AT_MOST);
    return [table, printChecks("commands of agents", [over, await manyAtOnce(toolbox)])];
  } finally {
    await toolbox.close();
    place.remove();
  }
}

/** What one subject takes more than another in the same round. */
export function overBare(samples, subject, bare, atMost) {
  const over = samples.get(subject).map((time, i) => time - samples.get(bare)[i]);
  const { median: value } = summarise(over);
  const goal = { goal: `≤ ${atMost}`, holds: value <= atMost };
  return { name: `${subject}, over ${bare}`, value, unit: "ms", ...goal, samples: over };
}

async function manyAtOnce(toolbox) {
  const from = performance.now();
  await Promise.all(Array.from({ length: MANY }, (_, i) => called(toolbox, `exit ${i % 200}`, i % 200)));
  return { name: `${MANY} at once, all right`, value: performance.now() - from, unit: "ms" };
}

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
