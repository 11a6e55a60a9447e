import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { envOf, makePlace, systemsHere } from "./peers.mjs";
import { printTable, summarise } from "./stats.mjs";
import { buildTools } from "./tools.mjs";
import { WORKS } from "./works.mjs";

/** Bounds on HERMES enforce, against bare and against those who do as much or less. */
const AT_MOST = { gcc: 1.15, git: 1.15, npm: 1.15, python: 1.15, tar: 1.6, find: 1.6, redis: 1.05 };
const SLOWER_THAN_US = ["strace", "proot", "runsc"];

/** Real programs, bare and under each system, in turn. */
export async function workloads({ rounds, only, systems }) {
  const { measure } = buildTools();
  const place = makePlace();
  try {
    const found = systemsHere(place, systems?.split(","));
    const tables = [];
    for (const work of WORKS.filter(({ name }) => !only || only.split(",").includes(name))) {
      const lacking = work.needs.filter((program) => !onPath(program));
      if (lacking.length > 0) {
        process.stdout.write(`bench: ${work.name} was not measured: ${lacking.join(", ")} is missing\n`);
        continue;
      }
      work.prepare?.(place);
      tables.push(await oneWork({ work, found, rounds, place, measure }));
    }
    return { systems: found.map(({ name, does, lacks }) => ({ name, does, lacks })), tables };
  } finally {
    place.remove();
  }
}

async function oneWork({ work, found, rounds, place, measure }) {
  const times = new Map(found.map(({ name }) => [name, []]));
  const costs = new Map(found.map(({ name }) => [name, []]));
  const broken = new Set();
  for (let round = -1; round < rounds; round++)
    for (const { name, prefix } of found) {
      if (broken.has(name)) continue;
      work.reset?.(place);
      try {
        const cost = work.server
          ? await loaded(work, prefix, place)
          : measured(measure, [...prefix, ...work.argv(place)], place);
        if (round < 0) continue; // warm-up
        times.get(name).push(cost.wall);
        costs.get(name).push(cost);
      } catch (error) {
        broken.add(name);
        process.stdout.write(`bench: ${work.name} cannot be done under ${name}: ${error.message}\n`);
      }
    }
  for (const name of broken) times.delete(name);
  const goals = [
    ...(AT_MOST[work.name]
      ? [{ subject: "HERMES enforce", against: "bare", atMost: AT_MOST[work.name] }]
      : []),
    ...SLOWER_THAN_US.map((against) => ({ subject: "HERMES enforce", against, atMost: 1 })),
  ];
  const table = printTable(`${work.name}: ${work.about}`, "ms", times, goals);
  return {
    ...table,
    work: work.name,
    costs: Object.fromEntries([...costs].map(([name, all]) => [name, costOf(all)])),
  };
}

function costOf(all) {
  const of = (key) =>
    all.some((one) => one[key] !== undefined) ? summarise(all.map((one) => one[key])).median : undefined;
  return { cpuMs: of("cpu"), peakMb: of("peak") };
}

/** Wall clock and CPU in ms, peak memory of the largest process in MB. */
function measured(measure, argv, place) {
  const file = join(place.folder, "measured");
  const done = spawnSync(measure, [file, ...argv], {
    cwd: place.workspace,
    env: envOf(place),
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (done.status !== 0) throw new Error(`exit ${done.status ?? done.signal}: ${lastLine(done.stderr)}`);
  const [wall, cpu, peak] = readFileSync(file, "utf8").split(" ").map(Number);
  return { wall: wall / 1e6, cpu: cpu / 1e6, peak: peak / 1024 };
}

async function loaded(work, prefix, place) {
  const port = await freePort();
  const [program, ...words] = [...prefix, ...work.server({ ...place, port })];
  const server = spawn(program, words, {
    cwd: place.workspace,
    env: envOf(place),
    stdio: "ignore",
    detached: true,
  });
  const ended = new Promise((resolve) => server.on("exit", resolve).on("error", resolve));
  try {
    await listens(port, ended);
    const [client, ...args] = work.load({ port });
    const from = performance.now();
    const done = spawnSync(client, args, { encoding: "utf8" });
    if (done.status !== 0) throw new Error(`${client}: exit ${done.status}: ${lastLine(done.stderr)}`);
    return { wall: performance.now() - from };
  } finally {
    try {
      process.kill(-server.pid, "SIGTERM");
    } catch {
      // it has ended already
    }
    await Promise.race([ended, sleep(5000).then(() => process.kill(-server.pid, "SIGKILL"))]).catch(() => {});
  }
}

async function listens(port, ended) {
  let over = false;
  ended.then(() => (over = true));
  for (let i = 0; i < 600 && !over; i++) {
    const open = await new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.unref();
      socket.on("connect", () => socket.destroy());
    });
    if (open) return;
    await sleep(50);
  }
  throw new Error("the server does not listen");
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const onPath = (program) => process.env.PATH.split(":").some((folder) => existsSync(join(folder, program)));
const lastLine = (text) => text.trim().split("\n").pop()?.slice(0, 200) ?? "";
