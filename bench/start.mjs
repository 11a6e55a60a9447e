import { spawnSync } from "node:child_process";
import { envOf, makePlace } from "./place.mjs";
import { printTable } from "./print.mjs";
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

/** A hook call of Claude Code before `true`. */
const CALL = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "true" } };

/** The total time of a program that does nothing, under each system. */
export function start({ rounds, systems, cannot }) {
  const place = makePlace();
  try {
    const found = systemsHere(place, systems, cannot).filter(({ name }) => name !== "bare");
    const subjects = [
      { name: "bare", prefix: [] },
      { name: "node -e 0", prefix: [process.execPath, "-e", "0"] },
      { name: "HERMES", prefix: [`${root}hermes`, "run", "--quiet", "--"] },
      { name: "HERMES, a TypeScript policy", prefix: hermes("auto", "requested") },
      { name: "hermes exec", prefix: [`${root}hermes`, "exec"] },
      { name: "hermes hook", command: [`${root}hermes`, "hook", "claude-code"], input: hookInput(place) },
      ...found,
    ];
    const options = { cwd: place.workspace, env: envOf(place) };
    const samples = interleave(rounds * 2, subjects, ({ name, prefix, command, input }) => {
      const [program, ...words] = command ?? [...prefix, "true"];
      const stdio = [input === undefined ? "ignore" : "pipe", "ignore", "ignore"];
      const from = performance.now();
      const { status } = spawnSync(program, words, { ...options, stdio, input });
      if (status !== 0) throw new Error(`true under ${name} ended with ${status}`);
      return performance.now() - from;
    });
    const about = { name: "start-up: true", ours: "HERMES", bare: "bare", peers: PEERS };
    return printTable("start-up: from nothing to the end of true", "ms", samples, GOALS, about);
  } finally {
    place.remove();
  }
}

function hookInput({ workspace }) {
  return JSON.stringify({ session_id: "bench", cwd: workspace, ...CALL });
}
