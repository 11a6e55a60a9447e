import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { loadParts } from "./parts.mjs";
import { printChecks } from "./print.mjs";
import { summarise } from "./stats.mjs";
import { HERMES } from "./tools.mjs";

const REAL = 5;
const APPROVERS = ["ann", "bob", "cid"];
const PER_MINUTE = 300;
const RECORDS_PER_SECOND = 2; // of each host
const BACKLOG = 20_000;

/**
 * One real PostgreSQL. Simulated hosts with the real store, audit and agent but simulated sessions, and a few real ones: an
 * agent, and a program under `hermes run`.
 */
export async function fleet({ quick }) {
  const count = quick ? 40 : 200;
  const seconds = quick ? 10 : 60;
  const parts = await loadParts("fleet-parts");
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-fleet-"));
  process.env.HERMES_HOME = join(folder, "home");
  const server = await parts.PostgresServer.start("max_connections=500");
  const here = await parts.place(server);
  // Two hundred hosts would not share one disk: the simulated ones are in memory. The server is on disk.
  process.env.TMPDIR = "/dev/shm";
  const central = await parts.openStore(here.url);
  const people = [];
  let over = false;
  const hosts = [];
  const real = [];
  try {
    say(`${count} simulated hosts and ${REAL} real ones, for ${seconds} s`);
    for (let i = 0; i < count; i++) hosts.push(await begin(parts, here, `sim-${i}`));
    for (let i = 0; i < REAL; i++) real.push(await realHost(parts, here, folder, i));
    await parts.until(() => hosts.every(({ agent }) => agent.up), "every agent");
    for (const name of APPROVERS) people.push(approver(parts, here, name, () => over));

    const first = await pushed(parts, here, hosts, real, "first");
    const records = recording(hosts, () => over);
    const asked = await questions(hosts, seconds);
    const second = await pushed(parts, here, hosts, real, "second");
    over = true;
    const answers = (await Promise.all(people)).flat();
    const written = (await records).reduce((sum, n) => sum + n, 0);
    const ends = new Map();
    for (const one of hosts) ends.set(one.audit.chain, (await one.store.chainEnds())[0].seq);
    const delivered = async () => {
      const there = new Map((await central.chains()).map(({ chain, seq }) => [chain, seq]));
      return [...ends].every(([chain, seq]) => there.get(chain) === seq);
    };
    await parts.until(delivered, "the delivery");
    const catchUp = await backlog(parts, here, central);
    const reports = await parts.verifyAll(central, []);
    const broken = reports.filter((report) => report.broken);
    const [{ bytes, rows }] = await server.query(
      `SELECT sum(pg_total_relation_size(inhrelid))::bigint::text AS bytes,
         (SELECT count(*) FROM hermes.audit)::text AS rows FROM pg_inherits
       WHERE inhparent = 'hermes.audit'::regclass`,
      here.url.split("/").at(-1),
    );
    const result = {
      hosts: count + REAL,
      seconds,
      push: { first, second },
      approvals: {
        asked: asked.length,
        answered: answers.length,
        perMinute: Math.round((asked.length / seconds) * 60),
        milliseconds: rounded(summarise(asked)),
        slowest: Math.round(Math.max(...asked)),
      },
      records: { written, catchUpPerSecond: catchUp, bytesEach: Math.round(Number(bytes) / Number(rows)) },
      chains: { whole: reports.length - broken.length, broken: broken.length },
    };
    return { ...printChecks(`${count + REAL} hosts and one PostgreSQL`, checksOf(result)), result };
  } finally {
    over = true;
    for (const { children } of real) for (const child of children) await end(child);
    for (const one of hosts) await one.close();
    await central.close();
    await here.fleet.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function checksOf({ push, approvals, records, chains }) {
  const { hosts, programs } = push.second;
  return [
    { name: "a policy is on every host after", value: hosts, unit: "ms" },
    { name: "every running program is held to it after", value: programs, unit: "ms" },
    {
      name: `${approvals.answered} questions, answered after`,
      value: approvals.milliseconds.median,
      unit: "ms",
    },
    { name: "the slowest of them after", value: approvals.slowest, unit: "ms" },
    { name: "records of a host that was away", value: records.catchUpPerSecond, unit: "per second" },
    { name: "a record takes", value: records.bytesEach, unit: "bytes" },
    { name: "broken chains", value: chains.broken, unit: "", goal: "0", holds: chains.broken === 0 },
  ];
}

async function begin(parts, here, id) {
  const one = await parts.host(here, id, { kind: "simulated" });
  one.start({ tick: 500, beat: 5_000, look: 2_000 });
  return one;
}

/** An agent and a program, each a separate process, and the program's output. */
async function realHost(parts, here, folder, i) {
  const home = join(folder, `real-${i}`);
  mkdirSync(home);
  const enrolled = await here.fleet.write(() => parts.enroll(`real-${i}`, { kind: "real" }, Date.now()));
  writeFileSync(join(home, "server"), parts.as(here.url, enrolled), { mode: 0o600 });
  writeFileSync(join(home, "file"), "");
  const env = { ...process.env, HERMES_HOME: home, HOME: home };
  const agent = spawn(HERMES, ["agent", "--store-file", join(home, "server")], { env, stdio: "ignore" });
  await parts.until(async () =>
    (await here.fleet.read(parts.hosts)).some((h) => h.id === `real-${i}` && h.seen !== null),
  );
  const script = `while :; do if cat '${home}/file' 2>/dev/null; then echo yes; else echo no; fi; sleep 0.02; done`;
  const program = spawn(HERMES, ["run", "-q", "--", "sh", "-c", script], {
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const seen = { last: "" };
  createInterface({ input: program.stdout }).on("line", (line) => {
    seen.last = line;
  });
  await parts.until(() => seen.last === "yes", "the program");
  return { seen, home, children: [program, agent] };
}

/** Milliseconds until every host has the policy, and until it applies to every running program. */
async function pushed(parts, here, hosts, real, name) {
  const wanted = name === "first" ? "no" : "yes";
  const path = name === "first" ? "**/file" : "**/other";
  const text = `name: bench\nrules:\n  - id: bench-file\n    deny: read\n    path: "/${path}"\n`;
  const started = performance.now();
  const used = process.cpuUsage();
  const serial = await here.fleet.write(() =>
    parts.push({
      name: "bench",
      text,
      selector: {},
      rank: 1,
      percent: 100,
      limits: parts.LIMITS,
      by: "bench",
    }),
  );
  const [all, programs] = await Promise.all([
    reached(started, hosts, ({ policy }) => policy.serial === serial),
    reached(started, real, ({ seen }) => seen.last === wanted),
  ]);
  const { user, system } = process.cpuUsage(used);
  const cpu = Math.round((user + system) / 1000);
  say(
    `pushed: every simulated host has it after ${all} ms, every running program is held to it after ${programs} ms (${cpu} ms of processor time for all simulated hosts)`,
  );
  return { hosts: all, programs, processorMs: cpu };
}

/** Sequentially: the measurement shares the CPU with two hundred hosts. */
async function reached(started, all, isThere) {
  for (const one of all) while (!isThere(one)) await sleep(10);
  return Math.round(performance.now() - started);
}

/** Each host writes records like a session. */
function recording(hosts, over) {
  return Promise.all(
    hosts.map(async ({ audit }) => {
      let written = 0;
      await sleep(Math.random() * 1000);
      for (; !over(); written++) {
        await audit.record("outcome", { id: `call-${written}`, status: "DONE", exitCode: 0, durationMs: 12 });
        await sleep(1000 / RECORDS_PER_SECOND);
      }
      return written;
    }),
  );
}

/** Questions at an even pace, on hosts in turn. Milliseconds from the question to the answer on the host. */
async function questions(hosts, seconds) {
  const all = [];
  const total = Math.round((PER_MINUTE / 60) * seconds);
  for (let i = 0; i < total; i++) {
    const asked = question(hosts[(i * 7) % hosts.length], `q${process.pid}-${i}`);
    asked.catch(() => {}); // reported when all are awaited
    all.push(asked);
    await sleep(60_000 / PER_MINUTE);
  }
  return Promise.all(all);
}

async function question({ store }, id) {
  const now = Date.now();
  const started = performance.now();
  await store.park({
    ...{ id, kind: "TOOL_CALL", session: "bench", toolCall: null, created: now, expires: now + 120_000 },
    ...{ digest: id, keys: "[]", what: `rm ${id}`, detail: "{}" },
  });
  for (;;) {
    const row = await store.approval(id);
    if (row.state === "granted" || row.state === "refused") return performance.now() - started;
    if (row.state !== "pending") throw new Error(`${id} is ${row.state}`);
    await sleep(10);
  }
}

/** An approver who takes the next question and answers it. */
async function approver(parts, here, name, over) {
  const store = await parts.openStore(here.url);
  const desk = new parts.Desk({ store });
  const answered = [];
  let woken = () => {};
  const stop = store.onApprovals(() => woken());
  while (!over()) {
    const row = await store.claim(name, Date.now(), Date.now() + 10_000);
    if (row) {
      const { mine } = await desk.answer(row.id, { answer: "once", by: name });
      if (mine) answered.push(row.id);
    } else
      await Promise.race([
        sleep(500),
        new Promise((resolve) => {
          woken = resolve;
        }),
      ]);
  }
  stop();
  await store.close();
  return answered;
}

/** A host that was offline for long: records per second after it reconnects. */
async function backlog(parts, here, central) {
  const one = await parts.host(here, "late");
  try {
    const record = (_, i) => one.audit.record("outcome", { id: `call-${i}`, status: "DONE", exitCode: 0 });
    await Promise.all(Array.from({ length: BACKLOG }, record));
    const started = performance.now();
    one.start();
    const there = async () =>
      (await central.chains()).find(({ chain }) => chain === one.audit.chain)?.seq === BACKLOG;
    await parts.until(there, "the backlog");
    return Math.round(BACKLOG / ((performance.now() - started) / 1000));
  } finally {
    await one.close();
  }
}

function rounded(values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Math.round(value)]));
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
