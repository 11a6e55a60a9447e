import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { processes, readStat } from "../../kernel/process/proc.js";
import { HermesError } from "../../nouns/errors.js";
import { wholeNumber } from "../options/values.js";
import { RESIDENT, startResident } from "../resident/start.js";
import { print, say } from "../views/output.js";

const STEP_MS = 20;
/** It starts within milliseconds, on a machine that has time. */
const START_MS = 10_000;
/** Longer than it waits itself for what its stand-ins are doing. */
const STOP_MS = 15_000;

/** The resident process of this user and this HERMES: found by its socket, as its callers find it. */
function residentProcess(): number | undefined {
  const { status, stdout, error } = spawnSync(RESIDENT, ["find"], { encoding: "utf8" });
  if (error) throw new HermesError("UNAVAILABLE", { what: "a resident process", why: error.message });
  return status === 0 ? Number(stdout) : undefined;
}

export function residentStatus({ json }: { readonly json?: boolean }): number {
  const pid = residentProcess();
  const standIns = pid === undefined ? [] : processes().filter((one) => readStat(one)?.parent === pid);
  const kilobytes = pid === undefined ? 0 : [pid, ...standIns].reduce((sum, one) => sum + memoryOf(one), 0);
  if (json) print(`${JSON.stringify({ running: pid !== undefined, pid, standIns, kilobytes })}\n`);
  else if (pid === undefined) print("no resident process runs; the first call of a hook starts one\n");
  else
    print(
      `resident process ${pid}: ${standIns.length} stand-in${standIns.length === 1 ? "" : "s"}, ${Math.round(kilobytes / 1024)} MiB\n`,
    );
  return pid === undefined ? 1 : 0;
}

export async function residentStart({ idle }: { readonly idle: string }): Promise<number> {
  if (residentProcess() !== undefined) return 0;
  startResident(wholeNumber("--idle", idle));
  if (await reached(START_MS, () => residentProcess() !== undefined)) return 0;
  say(
    "hermes: no resident process could be started: not inside a run of HERMES, nor where the state folder's resident/ belongs to others or is open to them\n",
  );
  return 1;
}

export async function residentStop(): Promise<number> {
  const pid = residentProcess();
  if (pid === undefined) return 0;
  process.kill(pid, "SIGTERM");
  if (await reached(STOP_MS, () => !isAlive(pid))) return 0;
  say(`hermes: the resident process ${pid} did not end: kill -9 ${pid} ends it, which harms no call\n`);
  return 1;
}

async function reached(patience: number, condition: () => boolean): Promise<boolean> {
  for (const end = Date.now() + patience; Date.now() < end; await sleep(STEP_MS))
    if (condition()) return true;
  return condition();
}

function isAlive(pid: number): boolean {
  const state = readStat(pid)?.state;
  return state !== undefined && state !== "Z";
}

function memoryOf(pid: number): number {
  try {
    return Number(/^Pss:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1"))?.[1] ?? 0);
  } catch {
    return Number(/^VmRSS:\s*(\d+)/m.exec(statusOf(pid))?.[1] ?? 0);
  }
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "latin1");
  } catch {
    return "";
  }
}
