import { existsSync } from "node:fs";
import { join } from "node:path";
import { measured } from "./measured.mjs";
import { envOf, makePlace } from "./place.mjs";
import { figure, printColumns, printTable } from "./print.mjs";
import { progress } from "./progress.mjs";
import { served } from "./served.mjs";
import { summarise } from "./stats.mjs";
import { PEERS, systemsHere } from "./systems.mjs";
import { WORKS } from "./works.mjs";

const OURS = "HERMES enforce";
/** Bounds for HERMES enforce, against bare and against systems that do as much or less. */
const AT_MOST = {
  gcc: 1.15,
  git: 1.15,
  npm: 1.15,
  python: 1.15,
  tar: 1.6,
  untar: 1.8,
  find: 1.6,
  programs: 1.4,
  redis: 1.05,
};
/** Whatever the program does, when there is no policy. */
const FREE = { subject: "HERMES free", against: "bare", atMost: 1.03 };
const STRICT = { subject: "HERMES strict enforce", against: OURS, atMost: 1.1 };
const SLOWER_THAN_US = ["strace", "proot", "runsc", "srt"];

/** Real programs, bare and under each system, in turn. */
export async function workloads({ rounds, works, systems, quick, cannot }) {
  const place = makePlace();
  const size = quick ? "quick" : "full";
  try {
    const found = systemsHere(place, systems, cannot);
    const tables = [];
    for (const work of WORKS.filter(({ name }) => !works || works.includes(name))) {
      progress(`  ${work.name} is prepared`);
      const why = unready(work, place, size);
      if (why) cannot(work.name, why);
      else
        await oneWork({ work, found, rounds, place, size, cannot }).then(
          (table) => tables.push(table),
          (error) => cannot(work.name, error.message), // bare, too, it does not work here
        );
    }
    return tables;
  } finally {
    place.remove();
  }
}

/** Prepares a workload, or reports why it cannot run here. */
function unready(work, place, size) {
  const lacking = work.needs.filter((program) => !onPath(program));
  if (lacking.length > 0) return `${lacking.join(", ")} is not installed`;
  try {
    work.prepare?.(place, size);
    return undefined;
  } catch (error) {
    return `it could not be prepared: ${error.message.split("\n")[0]}`;
  }
}

async function oneWork({ work, found, rounds, place, size, cannot }) {
  const costs = new Map(found.map(({ name }) => [name, []]));
  const run = ({ prefix }) => {
    work.reset?.(place, size);
    const options = { cwd: place.workspace, env: envOf(place) };
    return work.server
      ? served(work, prefix, place, size)
      : measured([...prefix, ...work.argv(place, size)], options);
  };
  await run(found[0]); // caches get warm
  for (let round = 0; round < rounds; round++) {
    for (const system of found.filter(({ name }) => costs.has(name))) {
      progress(`  ${work.name}, round ${round + 1} of ${rounds}: ${system.name}`);
      try {
        costs.get(system.name).push(await run(system));
      } catch (error) {
        costs.delete(system.name);
        cannot(`${work.name} under ${system.name}`, error.message);
      }
    }
    // A round takes minutes, and other load varies: bare is measured at both ends.
    const bare = costs.get("bare").at(-1);
    bare.wall = (bare.wall + (await run(found[0])).wall) / 2;
  }
  const times = new Map([...costs].map(([name, all]) => [name, all.map(({ wall }) => wall)]));
  const about = { name: work.name, ours: OURS, bare: "bare", peers: PEERS };
  const table = printTable(`${work.name}: ${work.about}`, "ms", times, goalsOf(work), about);
  return { ...table, work: work.name, costs: work.server ? undefined : printCosts(costs) };
}

function goalsOf({ name }) {
  const bare = AT_MOST[name] ? [{ subject: OURS, against: "bare", atMost: AT_MOST[name] }] : [];
  return [...bare, FREE, STRICT, ...SLOWER_THAN_US.map((against) => ({ subject: OURS, against, atMost: 1 }))];
}

/** Further costs: CPU of all processes, and CPU and memory of the supervising one. */
function printCosts(costs) {
  const medians = [...costs].map(([name, all]) => {
    const median = (key) => summarise(all.map((one) => one[key])).median;
    const own = name === "bare" ? {} : { ownCpuMs: median("ownCpu"), ownPeakMb: median("ownPeak") };
    return [name, { cpuMs: median("cpu"), ...own }];
  });
  const cell = (value) => (value === undefined ? "–" : figure(value));
  printColumns("  CPU of all that was waited for; of the supervisor its CPU and its memory at most", [
    ["", "all, ms", "supervisor, ms", "MB", ""],
    ...medians.map(([name, { cpuMs, ownCpuMs, ownPeakMb }]) => [
      ...[name, cell(cpuMs), cell(ownCpuMs), cell(ownPeakMb), ""],
    ]),
  ]);
  return Object.fromEntries(medians);
}

const onPath = (program) => process.env.PATH.split(":").some((folder) => existsSync(join(folder, program)));
