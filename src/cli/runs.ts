import { readlinkSync } from "node:fs";
import { resolve } from "node:path";
import type { RunAct, Runs, RunView } from "../console/runs.js";
import { HermesError } from "../errors.js";
import { processes, readStat } from "../process/proc.js";
import { Sessions } from "./sessions.js";
import { type SessionView, treeOf, view } from "./top.js";

const SIGNALS = { pause: "SIGSTOP", resume: "SIGCONT", end: "SIGTERM", kill: "SIGKILL" } as const;
const DECISIONS = 20;
const FRESH_MS = 500;

/** The runs of this machine, for the console: asked how they are doing, and reached by signals. */
export class MachineRuns implements Runs {
  #before = new Map<number, SessionView>();
  #asking: Promise<readonly RunView[]> | undefined;

  /** All who ask meanwhile, and for a moment after, get the same answer. */
  list(): Promise<readonly RunView[]> {
    this.#asking ??= this.#ask().finally(() => {
      setTimeout(() => {
        this.#asking = undefined;
      }, FRESH_MS).unref();
    });
    return this.#asking;
  }

  async act({ supervisor, started }: Pick<RunView, "supervisor" | "started">, act: RunAct): Promise<void> {
    const run = this.#before.get(supervisor);
    if (run?.started !== started || !processes().includes(supervisor))
      throw new HermesError("USAGE", { message: `there is no such run any more: ${supervisor}` });
    // One that is not ours goes on without us.
    if (run.attached && act === "end") {
      send(supervisor, "SIGTERM");
      return;
    }
    // Until there is nothing new: what a process started meanwhile is part of it.
    const reached = new Set<number>();
    for (let fresh = [0]; fresh.length > 0; ) {
      fresh = treeOf(run).flatMap(({ pid }) => (reached.has(pid) ? [] : [pid]));
      for (const pid of fresh) {
        reached.add(pid);
        send(pid, SIGNALS[act]);
      }
    }
    // Stopped with its program (see signals.ts), it must go on with it.
    if (act !== "pause") send(supervisor, "SIGCONT");
  }

  async #ask(): Promise<readonly RunView[]> {
    const sessions = new Sessions();
    try {
      const answers = await sessions.ask();
      const now = answers.map((answer) => view(answer, this.#before.get(answer.supervisor)));
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

function runView(run: SessionView, paused: boolean): RunView {
  const { supervisor, started, command, summary, callsPerSecond, policies, trace } = run;
  return {
    ...{ supervisor, started, command, paused, policies },
    ...(typeof trace?.file === "string" && { trace: resolve(folderOf(supervisor), trace.file) }),
    calls: summary.calls,
    callsPerSecond: paused ? 0 : callsPerSecond,
    decisions: summary.decisions.slice(0, DECISIONS).map(({ action, policy, rule, call, count }) => {
      return { action, what: `${call} (${policy}${rule === undefined ? "" : `/${rule}`})`, count };
    }),
    tree: treeOf(run),
  };
}

function isStopped({ supervisor, launcher }: SessionView): boolean {
  return readStat(supervisor)?.state === "T" && readStat(launcher)?.parent === supervisor;
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
    // It has ended by itself.
  }
}
