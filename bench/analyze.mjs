import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measured } from "./measured.mjs";
import { printChecks } from "./print.mjs";
import { HERMES } from "./tools.mjs";

const WORKLOAD =
  "git --version; find /usr/share/doc -maxdepth 1 | sort | uniq -c | wc -l; ls -lR /etc; python3 -c 'import json'";
const SECONDS_AT_MOST = 60;
const MEGABYTES_AT_MOST = 1024;

/** Time and memory of analysing a long trace: a real run, repeated with other processes and times. */
export function analyze({ events }) {
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  try {
    const trace = join(folder, "long.jsonl");
    repeat(recorded(folder), events, trace);
    const size = statSync(trace).size / 1e9;
    process.stdout.write(`\n${events.toLocaleString("en")} events, ${size.toFixed(1)} GB of JSON lines\n`);
    const plain = checked(["analyze", "--json", trace], "analyze");
    const html = checked(["analyze", "--html", join(folder, "report.html"), trace], "analyze --html");
    return printChecks(`analysing ${events.toLocaleString("en")} events`, [...plain, ...html]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function recorded(folder) {
  const trace = join(folder, "short.jsonl");
  spawnSync(HERMES, ["run", "--quiet", "--trace", trace, "--", "bash", "-c", WORKLOAD], { stdio: "ignore" });
  return readFileSync(trace, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

function repeat([header, ...records], events, file) {
  const fd = openSync(file, "w");
  const end = records.pop();
  const span = end.time - records[0].time + 0.01;
  const pids = new Set(records.flatMap(({ pid, tid, child }) => [pid, tid, child]).filter(Boolean)).size;
  let block = `${JSON.stringify(header)}\n`;
  for (let made = 0, round = 0; made < events; round++)
    for (const record of records) {
      if (made >= events) break;
      if (record.kind === "syscall") made++;
      const moved = { ...record, time: record.time + round * span };
      for (const key of ["pid", "tid", "child"]) if (moved[key]) moved[key] += round * pids;
      block += `${JSON.stringify(moved)}\n`;
      if (block.length < 1 << 20) continue;
      writeSync(fd, block);
      block = "";
    }
  writeSync(fd, `${block}${JSON.stringify(end)}\n`);
  closeSync(fd);
}

function checked(args, label) {
  const { wall, cpu, peak } = measured([HERMES, ...args]);
  const bounded = (name, value, unit, most) => ({
    ...{ name: `${label}, ${name}`, value, unit, goal: `≤ ${most}`, holds: value <= most },
  });
  return [
    bounded("time", wall / 1000, "s", SECONDS_AT_MOST),
    { name: `${label}, CPU`, value: cpu / 1000, unit: "s" },
    bounded("memory at most", peak, "MB", MEGABYTES_AT_MOST),
  ];
}
