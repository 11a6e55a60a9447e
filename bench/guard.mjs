import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Guard, LAYERS } from "../dist/intent/guard/index.js";
import { readCorpus } from "../scripts/corpus.mjs";
import { fuzzed } from "./guard-fuzz.mjs";
import { printChecks } from "./print.mjs";

const GOALS = { perSecond: 20_000, foreign: 10_000, skill: 10, p99: 1, worst: 20 };

/** How fast the guard judges commands, and whether an input exists that takes long. CPU time of this process. */
export function guard({ rounds, quick }) {
  const judge = new Guard(LAYERS);
  const commands = readCorpus()
    .filter(({ kind }) => kind === "command")
    .map(({ input }) => input);
  const check = (input) => judge.check({ kind: "command", input });
  for (let warm = 0; warm < 5; warm++) commands.forEach(check);
  const speeds = Array.from(
    { length: rounds },
    () => commands.length / (cpuOf(() => commands.forEach(check)) / 1000),
  );
  const perSecond = speeds.toSorted((a, b) => a - b)[speeds.length >> 1];
  const p99 = percentile(
    commands.map((input) => leastOf(3, () => check(input))),
    0.99,
  );
  const foreign = foreignCommands();
  const foreignSpeed = batchSpeed(foreign.map((input) => ({ kind: "command", input })));
  const skills = readCorpus().filter(({ kind }) => kind === "skill");
  const checkSkills = () => {
    for (const { input } of skills) judge.check({ kind: "skill", input });
  };
  checkSkills();
  const skill = cpuOf(checkSkills) / skills.length;
  const fuzz = hardest(check, [...fuzzed(commands, quick ? 10_000 : 100_000)]);
  const results = [
    {
      name: `judged, of ${commands.length} commands of the corpus`,
      value: perSecond,
      unit: "per second",
      holds: perSecond >= GOALS.perSecond,
      goal: `≥ ${GOALS.perSecond}`,
    },
    {
      name: `judged by guard batch, start-up included, of ${foreign.length} lines of scripts on this machine`,
      value: foreignSpeed,
      unit: "per second",
      holds: foreignSpeed >= GOALS.foreign,
      goal: `≥ ${GOALS.foreign}`,
    },
    {
      name: "a skill of the corpus takes",
      value: skill,
      unit: "ms",
      holds: skill <= GOALS.skill,
      goal: `≤ ${GOALS.skill}`,
    },
    {
      name: "99 of 100 take at most",
      value: p99,
      unit: "ms",
      holds: p99 < GOALS.p99,
      goal: `< ${GOALS.p99}`,
    },
    {
      name: `the worst of ${fuzz.count} fuzzed ones takes`,
      value: fuzz.worst,
      unit: "ms",
      holds: fuzz.worst < GOALS.worst,
      goal: `< ${GOALS.worst}`,
    },
  ];
  const table = printChecks("the guard", results);
  if (!results[2].holds) process.stdout.write(`    ${JSON.stringify(fuzz.input.slice(0, 200))}\n`);
  return table;
}

const AT_MOST = 20_000;

/** Lines that nobody here wrote: maintainer scripts, start scripts and shell profiles of the installed packages. */
function foreignCommands() {
  const folders = [
    "/var/lib/dpkg/info",
    "/etc/init.d",
    "/etc/profile.d",
    "/usr/share/bash-completion/completions",
    "/usr/bin",
  ];
  const lines = new Set();
  for (const folder of folders)
    for (const text of scriptsIn(folder))
      for (const line of text.split("\n")) {
        const command = line.trim();
        if (command.length > 3 && !command.startsWith("#") && lines.size < AT_MOST) lines.add(command);
      }
  return [...lines];
}

function scriptsIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const info = statSync(path, { throwIfNoEntry: false });
    if (!info?.isFile() || info.size > 200_000) return [];
    const text = readFileSync(path, "utf8");
    return /^#!.*\b(?:ba|da)?sh\b/.test(text) || /completions$|profile\.d$/.test(folder) ? [text] : [];
  });
}

/** Inputs per second of CPU time of the whole command. */
function batchSpeed(questions) {
  const hermes = fileURLToPath(new URL("../dist/cli/main.cjs", import.meta.url));
  const before = childCpu();
  spawnSync(process.execPath, [hermes, "guard", "batch"], {
    input: questions.map((one) => JSON.stringify(one)).join("\n"),
    maxBuffer: 1 << 28,
  });
  return questions.length / (childCpu() - before);
}

/** Seconds of CPU that the children which ended have used: fields 16 and 17 of /proc/self/stat, in ticks of 10 ms. */
function childCpu() {
  const fields = readFileSync("/proc/self/stat", "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** The machine is shared: a slow sample is measured again. */
function hardest(check, inputs) {
  let worst = 0;
  let input = "";
  for (const one of inputs) {
    const first = cpuOf(() => check(one));
    const time =
      first > worst
        ? Math.min(
            first,
            leastOf(3, () => check(one)),
          )
        : first;
    if (time > worst) [worst, input] = [time, one];
  }
  return { worst, input, count: inputs.length };
}

const leastOf = (times, act) => Math.min(...Array.from({ length: times }, () => cpuOf(act)));

/** Milliseconds. */
function cpuOf(act) {
  const from = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

const percentile = (values, part) => values.toSorted((a, b) => a - b)[Math.floor(values.length * part)];
