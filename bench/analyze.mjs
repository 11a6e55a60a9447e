import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const HERMES = fileURLToPath(new URL("../hermes", import.meta.url));
const WORKLOAD =
  "git --version; find /usr/share/doc -maxdepth 1 | sort | uniq -c | wc -l; ls -lR /etc; python3 -c 'import json'";
const SECONDS_AT_MOST = 60;
const MEGABYTES_AT_MOST = 1024;
const POLL_MS = 50;

/** How long, and with how much memory, a long trace is analysed: a real run, over and over, with other processes and times. */
export async function analyze({ events }) {
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  try {
    const trace = join(folder, "long.jsonl");
    repeat(recorded(folder), Number(events), trace);
    const size = statSync(trace).size / 1e9;
    process.stdout.write(
      `\n${Number(events).toLocaleString("en")} events, ${size.toFixed(1)} GB of JSON lines\n`,
    );
    const plain = await measure(["analyze", "--json", trace], "analyze");
    const html = await measure(["analyze", "--html", join(folder, "report.html"), trace], "analyze --html");
    return { events: Number(events), plain, html };
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

async function measure(args, label) {
  const from = performance.now();
  const child = spawn(HERMES, args, { stdio: "ignore" });
  let peak = 0;
  let cpu = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid));
    cpu = Math.max(cpu, cpuOf(child.pid));
  }, POLL_MS);
  const status = await new Promise((resolve) => child.on("close", resolve));
  clearInterval(timer);
  if (status !== 0) throw new Error(`${label} ended with ${status}`);
  const seconds = (performance.now() - from) / 1000;
  const holds = seconds <= SECONDS_AT_MOST && peak <= MEGABYTES_AT_MOST;
  process.stdout.write(
    `  ${holds ? "✓" : "✗"} ${label.padEnd(15)} ${seconds.toFixed(1)} s (${cpu.toFixed(1)} s of CPU), ${peak.toFixed(0)} MB at most (goal ≤ ${SECONDS_AT_MOST} s, ≤ ${MEGABYTES_AT_MOST} MB)\n`,
  );
  return { seconds, cpu, megabytes: peak, holds };
}

function peakOf(pid) {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0; // it has just ended
  }
}

const TICKS_PER_SECOND = 100;

/** utime and stime of proc_pid_stat(5). */
function cpuOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}
