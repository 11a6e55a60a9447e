import { parseArgs } from "node:util";
import { SYSTEMS } from "./systems.mjs";
import { USERS } from "./users.mjs";
import { WORKS } from "./works.mjs";

const FLAGS = {
  help: { type: "boolean", short: "h", default: false },
  quick: { type: "boolean", default: false },
  rounds: { type: "string" },
  pinned: { type: "boolean", default: false },
  only: { type: "string" },
  systems: { type: "string" },
  user: { type: "string" },
  json: { type: "string" },
  events: { type: "string" },
  door: { type: "string" },
  policy: { type: "string" },
};

/** An error in the command line. */
export class UsageError extends Error {}

/**
 * Parses the command line: { names, options } of scenarios, or { table } or { help }. A full run is one without named
 * scenarios.
 */
export function parse(words, scenarios) {
  const { values, positionals } = parsed(words);
  if (values.help) return { help: true };
  if (positionals[0] === "table") {
    if (positionals.length > 2) throw new UsageError("table takes one file");
    return { table: positionals[1] ?? "build/bench/results.json" };
  }
  const known = scenarios.map(({ name }) => name);
  for (const name of positionals) oneOf("scenario", name, known);
  const works = WORKS.map(({ name }) => name);
  const only = listed("--only", values.only, [...known, ...works]);
  const systems = listed(
    "--systems",
    values.systems,
    SYSTEMS.map(({ name }) => name),
  );
  const sitting = positionals.length === 0;
  const names = chosen(sitting, positionals, only, scenarios);
  if (names.length === 0) throw new UsageError(`--only: ${values.only} is no part of this`);
  return {
    names,
    sitting,
    whole: sitting && !only,
    options: {
      quick: values.quick,
      pinned: values.pinned,
      ...(values.json !== undefined && { json: values.json }),
      ...(values.rounds !== undefined && { rounds: count("--rounds", values.rounds) }),
      ...(values.events !== undefined && { events: count("--events", values.events) }),
      ...(only?.some((name) => works.includes(name)) && {
        works: only.filter((name) => works.includes(name)),
      }),
      // The baseline of all comparisons.
      ...(systems && { systems: ["bare", ...systems.filter((name) => name !== "bare")] }),
      ...(values.user !== undefined && { user: oneOf("--user", values.user, USERS) }),
      door: oneOf("--door", values.door ?? "notify", ["notify", "trace"]),
      policy: oneOf("--policy", values.policy ?? "requested", ["requested", "canonical"]),
    },
  };
}

/** Without named scenarios: all of a full run. `--only` selects some of them; a workload's name selects its scenario. */
function chosen(sitting, positionals, only, scenarios) {
  const all = scenarios.filter((one) => one.rounds !== undefined).map(({ name }) => name);
  const wanted = sitting ? all : positionals;
  if (!only) return wanted;
  const names = new Set(scenarios.map(({ name }) => name));
  const takesWorks = new Set(scenarios.filter((one) => one.takesWorks).map(({ name }) => name));
  return wanted.filter(
    (name) => only.includes(name) || (takesWorks.has(name) && only.some((one) => !names.has(one))),
  );
}

function parsed(words) {
  try {
    return parseArgs({ args: words, allowPositionals: true, options: FLAGS });
  } catch (error) {
    throw new UsageError(error.message.split(". ")[0]);
  }
}

function listed(flag, text, known) {
  return text?.split(",").map((name) => oneOf(flag, name.trim(), known));
}

function oneOf(what, name, known) {
  if (known.includes(name)) return name;
  throw new UsageError(`${what}: "${name}" is none of ${known.join(", ")}`);
}

function count(flag, text) {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new UsageError(`${flag}: "${text}" is no number above 0`);
}

export function helpText(scenarios) {
  const width = Math.max(...scenarios.map(({ name }) => name.length)) + 2;
  const list = scenarios.map(({ name, about }) => `  ${name.padEnd(width)}${about}\n`).join("");
  return `npm run bench -- [SCENARIO …] [options]
npm run bench -- table [FILE]

Measures HERMES and its peers on the same work, alternating in one run. Without a scenario: a full run of all except
those in brackets, with a summary, build/bench/results.json and build/bench/chart.svg.

Scenarios:
${list}
Options:
  --quick           smaller and fewer: about a quarter of the time, more noise
  --rounds N        how often each subject is measured
  --pinned          everything on one CPU
  --only A,B        in a full run: these scenarios or workloads; in workloads and overview: these workloads
  --systems A,B     in start, workloads and overview: these systems (bare is always included)
  --user USER       in workloads and overview: ordinary, root or both; root can become an ordinary user
  --json FILE       the results file (default for a complete run: build/bench/results.json)
  --events N        in memory, trace and analyze: the number of events
  --door DOOR       in memory: notify or trace;  --policy: requested or canonical

Examples:
  npm run bench                                       everything, about ${MINUTES.full} minutes
  npm run bench -- --quick                            everything, about ${MINUTES.quick} minutes
  npm run bench -- peers                              installs the peers first (as root)
  npm run bench -- workloads --only gcc,git --systems "HERMES enforce,strace"
  npm run bench -- overview --quick                   one table of the workloads for each user
  npm run bench -- start rules --rounds 21 --json /tmp/results.json
  npm run bench -- table                              inserts the table of the last run into docs/explanation/performance.md
`;
}

/** Measured on two cores. */
const MINUTES = { full: 60, quick: 15 };
