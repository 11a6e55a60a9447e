import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { printChecks } from "./print.mjs";
import { buildTools, hermes } from "./tools.mjs";

const SHOWN = [10, 50, 100];
const GROWTH_AT_MOST = 1.1;

/** Whether the supervisor's memory grows with the number of events: its resident size over time. */
export async function memory({ events, door, policy }) {
  const tools = buildTools();
  const [command, ...args] = [...hermes(door, policy), tools.calls, "open", String(events), "marks"];
  const supervisor = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const from = performance.now();
  const samples = {};
  process.stdout.write(`\n${events.toLocaleString("en")} events, ${door} door, policy ${policy}\n`);
  for await (const line of createInterface(supervisor.stdout)) {
    const percent = Number(/^mark (\d+)$/.exec(line)?.[1]);
    samples[percent] = residentOf(supervisor.pid);
    if (SHOWN.includes(percent))
      process.stdout.write(`  ${String(percent).padStart(3)} %  ${samples[percent].toFixed(1)} MB\n`);
  }
  if (samples[100] === undefined) throw new Error("the workload did not come to its end");
  const growth = samples[100] / samples[10];
  const holds = growth <= GROWTH_AT_MOST;
  const each = ((performance.now() - from) * 1000) / events;
  return printChecks(`memory of the supervisor over ${events.toLocaleString("en")} events, ${door} door`, [
    {
      name: "grows from 10 % to 100 % of the events to",
      value: growth,
      unit: "×",
      goal: `≤ ${GROWTH_AT_MOST}`,
      holds,
    },
    { name: "at the end", value: samples[100], unit: "MB", samples },
    { name: "an event takes", value: each, unit: "µs" },
  ]);
}

function residentOf(pid) {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
}
