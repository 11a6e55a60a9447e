import { existsSync } from "node:fs";
import { join } from "node:path";
import { complaint, measured } from "./measured.mjs";
import { MEDIA, makePlace, optionsOf } from "./place.mjs";
import { figure, printColumns, printTable } from "./print.mjs";
import { progress } from "./progress.mjs";
import { served } from "./served.mjs";
import { summarise } from "./stats.mjs";
import { takeStep } from "./step.mjs";
import { PEERS, systemsHere } from "./systems.mjs";
import { usersHere } from "./users.mjs";
import { WORKS } from "./works.mjs";

const OURS = "HERMES enforce";
/** Bounds for HERMES enforce, against bare and against systems that do as much or less. */
const AT_MOST = {
  gcc: 1.08,
  git: 1.08,
  npm: 1.08,
  python: 1.08,
  sqlite: 1.08,
  find: 1.08,
  tar: 1.08,
  untar: 1.2,
  "untar-tmpfs": 1.8,
  programs: 1.4,
  redis: 1.05,
};
/** Whatever the program does, when there is no policy. */
const FREE = { subject: "HERMES free", against: "bare", atMost: 1.03 };
const STRICT = { subject: "HERMES strict enforce", against: OURS, atMost: 1.1 };
const SLOWER_THAN_US = ["strace", "proot", "runsc", "srt"];

/** Real programs, bare and under each system, in turn: as each user, in places on each medium. */
export async function workloads({ works, user, cannot, ...options }) {
  const wanted = WORKS.filter(({ name }) => !works || works.includes(name));
  const tables = [];
  for (const one of usersHere(user, cannot))
    for (const medium of MEDIA) {
      const mine = wanted.filter((work) => (work.medium ?? MEDIA[0]) === medium);
      const label = (name) => (user === undefined ? name : `${name}, ${one.name}`);
      const say = (what, why) => cannot(label(what), why);
      if (mine.length > 0)
        tables.push(...(await worksIn({ works: mine, user: one, medium, label, ...options, cannot: say })));
    }
  return tables;
}

async function worksIn({ works, user, medium, systems, quick, cannot, ...options }) {
  const size = quick ? "quick" : "full";
  const place = placeOf(user, medium, (why) => works.map(({ name }) => cannot(name, why)));
  if (!place) return [];
  try {
    const found = systemsHere(place, systems, cannot);
    const tables = [];
    for (const work of works) {
      progress(`  ${work.name} is prepared`);
      const why = unready(work, place, size);
      if (why) cannot(work.name, why);
      else
        await oneWork({ work, found, place, size, cannot, ...options }).then(
          (table) => tables.push(table),
          (error) => cannot(work.name, error.message), // bare, too, it does not work here
        );
    }
    return tables;
  } finally {
    place.remove();
  }
}

function placeOf(user, medium, cannot) {
  try {
    return makePlace({ user, medium });
  } catch (error) {
    return void cannot(`no ${medium} for its files: ${complaint(error.message)}`);
  }
}

/** Prepares a workload, or reports why it cannot run here. */
function unready(work, place, size) {
  const lacking = work.needs.filter((program) => !onPath(program, place));
  if (lacking.length > 0) return `${lacking.join(", ")} is not installed`;
  if (work.medium === "disk" && place.medium !== "disk") return `its files would be in a ${place.medium}`;
  try {
    takeStep(work, "prepare", place, size);
    return undefined;
  } catch (error) {
    return `it could not be prepared: ${error.message.split("\n")[0]}`;
  }
}

async function oneWork({ work, found, rounds, place, size, label, cannot }) {
  const costs = new Map(found.map(({ name }) => [name, []]));
  await runOnce(work, found[0], place, size); // caches get warm
  for (let round = 0; round < rounds; round++) {
    for (const system of found.filter(({ name }) => costs.has(name))) {
      progress(`  ${label(work.name)}, round ${round + 1} of ${rounds}: ${system.name}`);
      try {
        costs.get(system.name).push(await runOnce(work, system, place, size));
      } catch (error) {
        costs.delete(system.name);
        cannot(`${work.name} under ${system.name}`, error.message);
      }
    }
    // A round takes minutes, and other load varies: bare is measured at both ends.
    const bare = costs.get("bare").at(-1);
    bare.wall = (bare.wall + (await runOnce(work, found[0], place, size)).wall) / 2;
  }
  const times = new Map([...costs].map(([name, all]) => [name, all.map(({ wall }) => wall)]));
  const about = { name: label(work.name), ours: OURS, bare: "bare", peers: PEERS };
  const title = `${label(work.name)}: ${work.about}`;
  const table = printTable(title, "ms", times, goalsOf(work), about);
  const { name: user } = place.user;
  return { ...table, work: about.name, user, costs: work.server ? undefined : printCosts(costs) };
}

/** The costs of one run. A run with wrong results has none. */
async function runOnce(work, { prefix, discards }, place, size) {
  takeStep(work, "reset", place, size);
  if (work.server) return served(work, prefix, place, size);
  const costs = measured([...prefix, ...work.argv(place, size)], optionsOf(place));
  if (!discards) takeStep(work, "check", place, size);
  return costs;
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

const onPath = (program, { user }) =>
  user.path.split(":").some((folder) => existsSync(join(folder, program)));
