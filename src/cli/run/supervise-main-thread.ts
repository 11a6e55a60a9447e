import { resolve } from "node:path";
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { native } from "../../kernel/binding/native.js";
import { fileVersions } from "../../session/file-watch.js";
import type { WorkerOrder, WorkerReport } from "../../session/options.js";
import { supervise } from "../../session/supervise.js";
import type { SupervisorChannel } from "../../session/supervisor.js";
import { failure } from "../../session/worker-failure.js";
import { type ControlledRun, finishRun, reportProblem, reportRefusal } from "./controlled-run.js";
import { recordFailedRun } from "./record-run.js";
import { CONTROL_STATE, startControlThread } from "./start-control-thread.js";

/**
 * Supervises on the main thread: starting another thread takes as long as starting Node. The main thread blocks in the
 * wait, so a control thread beside it does everything else.
 */
export async function superviseOnMainThread(run: ControlledRun): Promise<never> {
  const beside = new ControlThreadChannel(run);
  const last = await supervise({ options: run.options }, beside);
  beside.handOver(last);
  if (last.type === "done") return finishRun(run, last.result);
  const error = failure(last as Extract<WorkerReport, { type: "failed" }>);
  await recordFailedRun(run, error);
  throw error;
}

/** A program that has already ended needs no control thread. */
const ALONE_MS = 25;

/**
 * The channel to the control thread, which starts while the program runs. Until then signals wait in their pipe, and
 * reports wait here.
 */
class ControlThreadChannel implements SupervisorChannel {
  readonly #run: ControlledRun;
  readonly #early: WorkerReport[] = [];
  readonly #state = new Int32Array(new SharedArrayBuffer(4));
  #seen: Map<string, string>;
  #port: MessagePort | undefined;
  #launched = 0;

  constructor(run: ControlledRun) {
    this.#run = run;
    this.#seen = fileVersions(run.options.policies.map((path) => resolve(path)));
  }

  report(report: WorkerReport): void {
    if (Atomics.load(this.#state, 0) === CONTROL_STATE.vacant && this.#said(report)) return;
    if (this.#port) this.#port.postMessage(report);
    else this.#early.push(report);
    if (report.type === "started") this.#started();
    else if (report.type === "policies" || report.type === "watch")
      this.#seen = fileVersions(report.files, this.#seen);
    else if (report.type === "question") this.#startControlThread();
    else if (report.type === "main-exited" && this.#run.killOrphans) native().endSession();
  }

  /** What is only printed needs no control thread. */
  #said(report: WorkerReport): boolean {
    if (report.type === "problem") reportProblem(report.text);
    else if (report.type === "refused") reportRefusal(this.#run.log, report.refusal);
    else return false;
    return true;
  }

  /** Started when the wait is interrupted, at the latest when the program has run for a while. */
  orders(holding: boolean): WorkerOrder | undefined {
    if (!this.#port && !holding && now() - this.#launched < ALONE_MS) return undefined;
    this.#startControlThread();
    return (receiveMessageOnPort(this.#port!) as { message: WorkerOrder } | undefined)?.message;
  }

  #started(): void {
    this.#launched = now();
    native().releaseStdio();
    if (this.#run.options.timeout === undefined) native().deadline(ALONE_MS);
    else this.#startControlThread();
  }

  #startControlThread(): void {
    if (this.#port) return;
    native().deadline(0);
    const { options } = this.#run;
    const late = Math.round(now() - this.#launched);
    const left = options.timeout !== undefined && { timeout: Math.max(options.timeout - late, 1) };
    this.#port = startControlThread({
      run: { ...this.#run, options: { ...options, ...left } },
      seen: this.#seen,
      state: this.#state,
    });
    for (const report of this.#early) this.#port.postMessage(report);
  }

  /** If there is a control thread, it ends the run after it has received everything. Otherwise none is started any more. */
  handOver(last: WorkerReport): void {
    if (
      Atomics.compareExchange(this.#state, 0, CONTROL_STATE.vacant, CONTROL_STATE.closed) ===
      CONTROL_STATE.vacant
    )
      return;
    this.#port!.postMessage(last);
    Atomics.wait(this.#state, 0, CONTROL_STATE.taken);
  }
}

/** Milliseconds of the monotonic clock. */
function now(): number {
  return process.uptime() * 1000;
}
