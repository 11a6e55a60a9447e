#!/usr/bin/env node
// npm run bench -- --help
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chart } from "./chart.mjs";
import { writeDocuments } from "./documents.mjs";
import { machine } from "./machine.mjs";
import { helpText, parse, UsageError } from "./options.mjs";
import { Report } from "./report.mjs";
import { optionsFor, SCENARIOS } from "./scenarios.mjs";
import { printSummary } from "./summary.mjs";
import { built } from "./tools.mjs";

/** A full run, or some scenarios: measures, prints, stores. Returns the exit status. */
async function measure({ names, sitting, whole, options }, words) {
  if (options.pinned) pin();
  const file = options.json ?? (whole ? join(built, "results.json") : undefined);
  const { quick, pinned } = options;
  const typed = words.map((word) => (/\s/.test(word) ? JSON.stringify(word) : word));
  const command = ["npm run bench", ...(words.length > 0 ? ["--", ...typed] : [])].join(" ");
  const head = { date: new Date().toISOString(), command, quick, pinned, machine: machine() };
  const report = new Report(head, file);
  for (const [i, name] of names.entries()) {
    const scenario = SCENARIOS.find((one) => one.name === name);
    const clock = new Date().toTimeString().slice(0, 5);
    process.stdout.write(`\n── ${i + 1} of ${names.length}, ${clock}: ${name}, ${scenario.about}\n`);
    const mine = optionsFor(scenario, options, sitting);
    await report.take(name, () => scenario.run({ ...mine, cannot: (...why) => report.cannot(...why) }));
  }
  const results = report.results();
  if (sitting || names.length > 1) printSummary(results);
  if (whole) writeFileSync(join(built, "chart.svg"), chart(results));
  if (file) process.stdout.write(`\n${file}${whole ? `, ${join(built, "chart.svg")}` : ""}\n`);
  return report.failed ? 1 : 0;
}

/** Everything started from here on runs on one CPU. */
function pin() {
  const done = spawnSync("taskset", ["-a", "-c", "-p", "0", String(process.pid)], { encoding: "utf8" });
  if (done.status !== 0)
    throw new UsageError(`--pinned: taskset: ${done.error?.message ?? done.stderr.trim()}`);
}

function resultsIn(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`table: ${file}: ${error.message}`);
  }
}

async function main(words) {
  const asked = parse(words, SCENARIOS);
  if (asked.help) return process.stdout.write(helpText(SCENARIOS)) && 0;
  if (asked.table) return writeDocuments(resultsIn(asked.table));
  return measure(asked, words);
}

// A scenario's files are removed when this process exits (place.mjs), not when it is killed.
for (const [signal, number] of Object.entries({ SIGINT: 2, SIGTERM: 15 }))
  process.once(signal, () => process.exit(128 + number));
process.stdout.on("error", () => process.exit(1)); // the reader has closed the pipe
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const known = error instanceof UsageError;
  process.stderr.write(`bench: ${known ? error.message : error.stack}\n`);
  if (known) process.stderr.write("bench: see npm run bench -- --help\n");
  process.exitCode = known ? 2 : 1;
}
