import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { native } from "../../kernel/binding/native.js";
import { processes, processesBelow, readStat, readText } from "../../kernel/process/proc.js";

/** Between two looks at the processes: a process that ran in between has not stopped. */
const LOOK_MS = 10;
/** So many looks at most: on a busy machine it takes some. A program that forks faster is not waited for. */
const TRIES = 1000;
const PROBES = 40;
/** Stopped, traced and stopped, in an uninterruptible wait (also for our verdict), dead. */
const STILL = /^[TtDZXI]$/;

/**
 * Stops every process of a session during a question, so that none can write to the terminal, change it, or type into it.
 * Processes that were already stopped stay stopped afterwards.
 */
export class SessionPause {
  readonly #attached: number | undefined;
  readonly #stopped = new Set<number>();
  #isHeld = false;

  /** The session that this process started, or the process that it attached to. */
  constructor(attached?: number) {
    this.#attached = attached;
  }

  /** Whether the process group belongs to the session. */
  owns(group: number): boolean {
    return this.#processes().some((pid) => readStat(pid)?.group === group);
  }

  /** All processes of a session are below its launcher. */
  #processes(): number[] {
    const attached = this.#attached;
    const roots = attached === undefined ? launchers() : [attached];
    const below = roots.flatMap((root) => processesBelow(root)).map(({ pid }) => pid);
    return attached === undefined ? below : [attached, ...below];
  }

  /** The launcher must not take this for job control. */
  #tellLauncher(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (this.#attached === undefined)
      for (const launcher of launchers()) native().holdSession(launcher, Number(isHeld));
  }

  /** Resolves to false when the session could not be stopped; then none of it stays stopped. */
  async pause(): Promise<boolean> {
    if (this.#attached === undefined && launchers().length === 0) return false;
    this.#tellLauncher(true);
    let before: string | undefined;
    for (let tries = 0; tries < TRIES && this.#isHeld; tries++) {
      const found = this.#stopNewest() ? undefined : this.#stopAll();
      if (found !== undefined && found === before) return true;
      before = found;
      await sleep(LOOK_MS);
    }
    this.resume();
    return false;
  }

  /** Continues what was stopped here, children first: no parent is to see a stopped child. */
  resume(): void {
    if (!this.#isHeld) return;
    for (const pid of [...this.#stopped].reverse()) signal(pid, "SIGCONT");
    this.#stopped.clear();
    this.#tellLauncher(false);
  }

  /** Stops what still runs. When all are stopped: how often each thread has been on a CPU. */
  #stopAll(): string | undefined {
    let running = false;
    const turns: string[] = [];
    for (const pid of this.#processes()) {
      const threads = threadsOf(pid);
      turns.push(...threads.map(({ tid, runs }) => `${tid}:${runs}`));
      if (threads.every(({ state }) => STILL.test(state)) && (this.#stopped.has(pid) || isStopped(threads)))
        continue;
      running ||= threads.some(({ state }) => !STILL.test(state));
      this.#stop(pid);
    }
    return running ? undefined : turns.join(" ");
  }

  /**
   * A process that lives only to fork the next one ends before a scan reaches it. It is found by the last pid that the
   * kernel assigned.
   */
  #stopNewest(): boolean {
    const family = new Set([...launchers(), ...this.#processes()]);
    let found = false;
    for (let probe = 0; probe < PROBES; probe++) {
      const last = Number(readText("/proc/loadavg").trim().split(" ").at(-1));
      for (const pid of [last, last - 1, last - 2]) {
        const stat = readStat(pid);
        if (!stat || STILL.test(stat.state) || !family.has(stat.parent)) continue;
        this.#stop(pid);
        family.add(pid);
        found = true;
      }
    }
    return found;
  }

  #stop(pid: number): void {
    this.#stopped.add(pid);
    signal(pid, "SIGSTOP");
  }
}

/** Our own children of that name. A question can come before the session is reported as started. */
function launchers(): number[] {
  return processes().filter(
    (pid) => readStat(pid)?.parent === process.pid && readText(`/proc/${pid}/comm`).trim() === LAUNCHER,
  );
}

const LAUNCHER = "hermes-launch";

interface Thread {
  readonly tid: number;
  readonly state: string;
  readonly runs: string;
}

function threadsOf(pid: number): Thread[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((tid) => ({
      tid: Number(tid),
      state: readStat(Number(tid))?.state ?? "X",
      runs: readText(`/proc/${tid}/schedstat`).split(" ")[2]?.trim() ?? "",
    }));
  } catch {
    return [];
  }
}

/** By job control, or by a debugger: not by us. */
function isStopped(threads: readonly Thread[]): boolean {
  return threads.every(({ state }) => state === "T" || state === "Z" || state === "X");
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended.
  }
}
