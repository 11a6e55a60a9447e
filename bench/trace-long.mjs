import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { measured } from "./measured.mjs";
import { printChecks } from "./print.mjs";
import { built, HERMES, run } from "./tools.mjs";

const GOALS = { analyze: { seconds: 60, megabytes: 1024 } };

/** A trace of ten million events: time and memory of reading it. */
export async function longTrace({ folder, events }) {
  const file = join(folder, "long.htrace");
  await makeLong(file, folder, events);
  const size = statSync(file).size / 2 ** 20;
  const checks = [];
  for (const [name, args] of Object.entries({
    analyze: ["analyze", "--json", file],
    export: ["export", file, "--to", "seccomp"],
    query: [
      "query",
      "--json",
      file,
      "SELECT name, count(*) AS n FROM calls GROUP BY 1 ORDER BY n DESC LIMIT 1",
    ],
  }))
    checks.push(...checked(name, args));
  const title = `a binary trace of ${events.toLocaleString("en")} events, ${size.toFixed(0)} MiB`;
  return printChecks(title, checks);
}

function checked(name, args) {
  const { wall, peak } = measured([HERMES, ...args]);
  const bounded = (what, value, unit, most) => ({
    ...{ name: `${name}, ${what}`, value, unit },
    ...(most !== undefined && { goal: `≤ ${most}`, holds: value <= most }),
  });
  return [
    bounded("time", wall / 1000, "s", GOALS[name]?.seconds),
    bounded("memory at most", peak, "MB", GOALS[name]?.megabytes),
  ];
}

/** The records of a real run, repeated with later times. */
async function makeLong(file, folder, events) {
  const { encoderFor, BLOCK, readTrace } = await traceModules();
  const seed = join(folder, "seed.htrace");
  run([
    HERMES,
    "run",
    "--quiet",
    "--trace",
    seed,
    "--",
    "sh",
    "-c",
    "ls -lR /usr/share/perl /usr/share/doc > /dev/null; gcc --version > /dev/null",
  ]);
  const records = [];
  await readTrace(seed, (record) => records.push(record));
  const [header, ...rest] = records.filter((record) => record.kind !== "end");
  const encoder = encoderFor("binary");
  const fd = openSync(file, "w");
  encoder.add(header);
  const length = rest.at(-1).time - rest[0].time;
  for (let i = 0; i < events; i++) {
    const record = rest[i % rest.length];
    const round = Math.floor(i / rest.length);
    encoder.add({ ...record, time: Math.round((record.time + round * length) * 1e6) / 1e6 });
    if (encoder.waiting >= BLOCK.binary) writeSync(fd, encoder.take());
  }
  writeSync(fd, encoder.finish());
  closeSync(fd);
}

async function traceModules() {
  const outfile = join(built, "trace.mjs");
  const contents = `export { encoderFor, BLOCK_SIZE as BLOCK } from "./src/record/trace/encoders.ts"; export { readTrace } from "./src/record/trace/reader.ts";`;
  await build({
    stdin: { contents, resolveDir: new URL("..", import.meta.url).pathname, loader: "ts" },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "warning",
  });
  return import(outfile);
}
