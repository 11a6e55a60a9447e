import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { loadParts } from "./parts.mjs";
import { envOf, makePlace } from "./place.mjs";
import { printChecks } from "./print.mjs";
import { summarise } from "./stats.mjs";
import { HERMES } from "./tools.mjs";

const PAGES = 10;
const WRITERS = 20;

/** Records written per second, and the delay until every open page of the console shows them. */
export async function consoleRate({ rounds, quick }) {
  const { Audit, openStore } = await loadParts("console-parts");
  const place = makePlace();
  const file = join(place.folder, "hermes.db");
  const records = quick ? 4000 : 20_000;
  const store = await openStore(file);
  const audit = Audit.open(store);
  const figures = { alone: [], watched: [], behind: [] };
  let served;
  try {
    await write(audit, records / 10); // warm-up
    for (let i = 0; i < rounds; i++) figures.alone.push(records / (await write(audit, records)));
    served = await serve(file, place);
    const pages = await Promise.all(Array.from({ length: PAGES }, () => follow(served)));
    for (let i = 0; i < rounds; i++) {
      const wanted = pages.map((page) => page.records + records);
      figures.watched.push(records / (await write(audit, records)));
      const from = performance.now();
      await Promise.all(pages.map((page, n) => page.until(wanted[n])));
      figures.behind.push(performance.now() - from);
    }
    for (const page of pages) page.close();
  } finally {
    if (served) await end(served.child);
    audit.close();
    await store.close();
    place.remove();
  }
  const median = (name) => ({ value: summarise(figures[name]).median, samples: figures[name] });
  return printChecks(`records of ${WRITERS} sessions, and ${PAGES} open pages of the console`, [
    { name: "written while nobody looks", ...median("alone"), unit: "per second" },
    { name: "written while the console shows them", ...median("watched"), unit: "per second" },
    { name: "every page knows of the last one after", ...median("behind"), unit: "ms" },
  ]);
}

/** Seconds for all sessions to write all records. */
async function write(audit, records) {
  const from = performance.now();
  const writer = async (_, s) => {
    for (let i = 0; i < records / WRITERS; i++)
      await audit.record(
        "outcome",
        { id: `c${i}`, status: "DONE", exitCode: 0, durationMs: 12 },
        { session: `s${s}` },
      );
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  return (performance.now() - from) / 1000;
}

async function serve(store, place) {
  const words = ["console", "--json", "--store", store, "--listen", "127.0.0.1:0", "--user", "bench:viewer"];
  const options = { cwd: place.workspace, env: envOf(place), stdio: ["ignore", "pipe", "ignore"] };
  const child = spawn(HERMES, words, options);
  const ended = once(child, "exit").then(() => ["null"]);
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), ended]);
  if (line === "null") throw new Error("the console does not start");
  const { url, links } = JSON.parse(line);
  return { child, url, headers: await login(url, links[0].link) };
}

async function login(url, link) {
  const own = { origin: url, "content-type": "application/json" };
  const body = JSON.stringify({ link: new URL(link).hash.slice("#login=".length) });
  const reply = await fetch(`${url}/api/login`, { method: "POST", headers: own, body });
  if (!reply.ok) throw new Error(`login: ${reply.status}`);
  const { key } = await reply.json();
  return { ...own, cookie: reply.headers.get("set-cookie").split(";")[0], "hermes-key": key };
}

/** An open page: the number of records that it has received. */
function follow({ url, headers }) {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/api/feed`, { headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`feed: ${response.statusCode}`));
      resolve(pageOf(response, asked));
    });
    asked.on("error", reject).end();
  });
}

function pageOf(response, asked) {
  const page = { records: 0, until: (wanted) => new Promise((done) => waits(wanted, done)), close };
  let [wanted, told] = [Number.POSITIVE_INFINITY, () => {}];
  function waits(count, done) {
    [wanted, told] = [count, done];
    if (page.records >= wanted) told();
  }
  function close() {
    asked.destroy();
  }
  const lines = createInterface({ input: response });
  for (const one of [asked, response, lines]) one.on("error", () => {}); // errors of closing it
  lines.on("line", (line) => {
    const count = /^data: \{"count":(\d+)\}$/.exec(line)?.[1];
    if (count === undefined) return;
    page.records += Number(count);
    if (page.records >= wanted) told();
  });
  return page;
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}
