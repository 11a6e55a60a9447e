import { spawnSync } from "node:child_process";
import { overBare } from "./exec.mjs";
import { envOf, makePlace } from "./place.mjs";
import { printChecks, printTable } from "./print.mjs";
import { interleave } from "./stats.mjs";
import { PEERS, systemsHere } from "./systems.mjs";
import { hermes, root } from "./tools.mjs";

const GOALS = [
  { subject: "HERMES", against: "node -e 0", atMost: 2 },
  { subject: "HERMES", against: "srt", atMost: 1 },
  { subject: "HERMES", against: "runsc", atMost: 1 },
  { subject: "hermes exec", against: "node -e 0", atMost: 3 },
  { subject: "hermes hook", against: "node -e 0", atMost: 1.6 },
];

const WARM_UP = 10;
const WARM_HOOK = "hermes hook, resident process";
/** With the tool call that it judges. */
const WARM_HOOK_AT_MOST_MS = 10;

/** A hook call of Claude Code before `true`. */
const CALL = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "true" } };

/** The total time of a program that does nothing, under each system. */
export function start({ rounds, systems, cannot }) {
  const place = makePlace();
  try {
    const found = systemsHere(place, systems, cannot).filter(({ name }) => name !== "bare");
    const hook = [`${root}hermes`, "hook", "claude-code"];
    const subjects = [
      { name: "bare", prefix: [] },
      { name: "node -e 0", prefix: [process.execPath, "-e", "0"] },
      { name: "HERMES", prefix: [`${root}hermes`, "run", "--quiet", "--"] },
      { name: "HERMES, a TypeScript policy", prefix: hermes("auto", "requested") },
      { name: "hermes exec", prefix: [`${root}hermes`, "exec"] },
      { name: "hermes hook", command: [...hook, "--no-resident"], input: hookInput(place) },
      { name: WARM_HOOK, command: hook, input: hookInput(place) },
      ...found,
    ];
    const options = { cwd: place.workspace, env: envOf(place) };
    // Its first calls compile what the next ones run.
    spawnSync(`${root}hermes`, ["resident", "start"], options);
    for (let i = 0; i < WARM_UP; i++)
      spawnSync(hook[0], hook.slice(1), { ...options, input: hookInput(place) });
    const samples = interleave(rounds * 2, subjects, ({ name, prefix, command, input }) => {
      const [program, ...words] = command ?? [...prefix, "true"];
      const stdio = [input === undefined ? "ignore" : "pipe", "ignore", "ignore"];
      const from = performance.now();
      const { status } = spawnSync(program, words, { ...options, stdio, input });
      if (status !== 0) throw new Error(`true under ${name} ended with ${status}`);
      return performance.now() - from;
    });
    const about = { name: "start-up: true", ours: "HERMES", bare: "bare", peers: PEERS };
    const table = printTable("start-up: from nothing to the end of true", "ms", samples, GOALS, about);
    const over = overBare(samples, WARM_HOOK, "bare", WARM_HOOK_AT_MOST_MS);
    return [table, printChecks("a warm hook call", [over])];
  } finally {
    spawnSync(`${root}hermes`, ["resident", "stop"], { env: envOf(place) });
    place.remove();
  }
}

function hookInput({ workspace }) {
  return JSON.stringify({ session_id: "bench", cwd: workspace, ...CALL });
}
