import { readlinkSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { processes, readStat } from "../../kernel/process/proc.js";
import { HermesError } from "../../nouns/errors.js";
import type { RunAction, Runs, RunView } from "../../people/console/runs.js";
import { processTree, type TopSession, topSession } from "../commands/top.js";
import { SessionStatusReader } from "./session-status.js";

const SIGNALS = { pause: "SIGSTOP", resume: "SIGCONT", end: "SIGTERM", kill: "SIGKILL" } as const;
const DECISIONS = 20;
const FRESH_MS = 500;
/** How often, and how long after each other, it is seen whether a child of vfork(2) has executed its program. */
const VFORK_TRIES = 200;
const VFORK_MS = 10;

/** The runs of this machine, for the console: it asks for their status and sends them signals. */
export class MachineRuns implements Runs {
  #before = new Map<number, TopSession>();
  /** Supervisors that did not answer the last time. */
  readonly #silent = new Set<number>();
  #asking: Promise<readonly RunView[]> | undefined;

  /** Concurrent and closely following requests share one answer. */
  list(): Promise<readonly RunView[]> {
    this.#asking ??= this.#ask().finally(() => {
      setTimeout(() => {
        this.#asking = undefined;
      }, FRESH_MS).unref();
    });
    return this.#asking;
  }

  async apply(
    { supervisor, started }: Pick<RunView, "supervisor" | "started">,
    act: RunAction,
  ): Promise<void> {
    const run = this.#before.get(supervisor);
    if (run?.started !== started || !processes().includes(supervisor))
      throw new HermesError("USAGE", { message: `the run ${supervisor} has ended` });
    // An attached program runs on without us.
    if (run.attached && act === "end") {
      send(supervisor, "SIGTERM");
      return;
    }
    // Repeats until no new process is found: processes started meanwhile belong to the run.
    const reached = new Set<number>();
    for (let tries = 0, fresh = [0]; fresh.length > 0; tries++) {
      fresh = processTree(run).flatMap(({ pid }) => (reached.has(pid) ? [] : [pid]));
      for (const pid of fresh) {
        if (act === "pause" && tries < VFORK_TRIES && isInVfork(pid)) continue;
        reached.add(pid);
        send(pid, SIGNALS[act]);
      }
      if (tries > 0) await sleep(VFORK_MS);
    }
    // The supervisor is stopped with its program (see signals.ts), and must be continued with it.
    if (act !== "pause") send(supervisor, "SIGCONT");
  }

  async #ask(): Promise<readonly RunView[]> {
    const sessions = new SessionStatusReader();
    try {
      const answers = await sessions.ask(undefined, this.#silent);
      const now = answers.map((answer) => topSession(answer, this.#before.get(answer.supervisor)));
      const paused = [...this.#before.values()].filter(
        (run) => isStopped(run) && !now.some(({ supervisor }) => supervisor === run.supervisor),
      );
      this.#before = new Map([...paused, ...now].map((run) => [run.supervisor, run]));
      return [...now.map((run) => runView(run, false)), ...paused.map((run) => runView(run, true))].sort(
        (a, b) => a.started - b.started,
      );
    } finally {
      sessions.close();
    }
  }
}

function runView(run: TopSession, paused: boolean): RunView {
  const { supervisor, started, command, summary, callsPerSecond, policies, trace } = run;
  return {
    ...{ supervisor, started, command, paused, policies },
    ...(typeof trace?.file === "string" && { trace: resolve(folderOf(supervisor), trace.file) }),
    calls: summary.calls,
    callsPerSecond: paused ? 0 : callsPerSecond,
    decisions: summary.decisions.slice(0, DECISIONS).map(({ action, policy, rule, call, count }) => {
      return { action, what: `${call} (${policy}${rule === undefined ? "" : `/${rule}`})`, count };
    }),
    tree: processTree(run),
  };
}

function isStopped({ supervisor, launcher }: TopSession): boolean {
  return readStat(supervisor)?.state === "T" && readStat(launcher)?.parent === supervisor;
}

/** The parent cannot stop until the child has executed a program or ended: vfork(2). So the child is not stopped before. */
function isInVfork(pid: number): boolean {
  const parent = readStat(pid)?.parent;
  return parent !== undefined && readStat(parent)?.state === "D";
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "/";
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}
