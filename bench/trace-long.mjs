import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { built, HERMES, run } from "./tools.mjs";

const GOALS = { analyze: { seconds: 60, megabytes: 1024 } };

/** A trace of ten million events: how long reading it takes, and how much memory. */
export async function longTrace({ folder, events }) {
  const file = join(folder, "long.htrace");
  await makeLong(file, folder, events);
  const size = statSync(file).size / 2 ** 20;
  process.stdout.write(`\n${events.toLocaleString("en")} events, binary, ${size.toFixed(0)} MiB\n`);
  const results = {};
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
    results[name] = await measured(name, args, GOALS[name]);
  return { events, megabytes: size, results };
}

async function measured(name, args, goal) {
  const from = performance.now();
  const child = spawn(HERMES, args, { stdio: ["ignore", "ignore", "inherit"] });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid));
  }, 50);
  const [code] = await once(child, "exit");
  clearInterval(watch);
  if (code !== 0) throw new Error(`hermes ${args.join(" ")}: exit ${code}`);
  const seconds = (performance.now() - from) / 1000;
  const holds = goal === undefined || (seconds <= goal.seconds && peak <= goal.megabytes);
  const wanted = goal ? ` (goal ≤ ${goal.seconds} s, ≤ ${goal.megabytes} MiB)` : "";
  process.stdout.write(
    `  ${goal ? (holds ? "✓ " : "✗ ") : "  "}${name}: ${seconds.toFixed(1)} s, at most ${peak.toFixed(0)} MiB${wanted}\n`,
  );
  return { seconds, peak, holds };
}

function peakOf(pid) {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** The records of a real run, again and again, each time later. */
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
  const contents = `export { encoderFor, BLOCK } from "./src/trace/encoders.ts"; export { readTrace } from "./src/trace/reader.ts";`;
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
