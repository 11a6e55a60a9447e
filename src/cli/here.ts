import { resolve } from "node:path";
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { native } from "../kernel/native.js";
import { failure } from "../session/failure.js";
import type { Order, Report } from "../session/options.js";
import { supervise } from "../session/supervise.js";
import type { Channel } from "../session/supervisor.js";
import { lookAt } from "../session/watch.js";
import { POST, startAttendant } from "./attendants.js";
import { type Attended, finish, tellProblem } from "./attended.js";

/**
 * Supervises on the thread that we were started on: another takes as long to come up as Node itself. It blocks in the
 * wait, so all else that a run needs is done by a thread beside it, the attendant.
 */
export async function superviseHere(run: Attended): Promise<never> {
  const beside = new Beside(run);
  const last = await supervise({ options: run.options }, beside);
  beside.leaveTo(last);
  if (last.type === "done") finish(run, last.result);
  throw failure(last as Extract<Report, { type: "failed" }>);
}

/** A program that has ended by then needs no attendant. */
const ALONE_MS = 25;

/** The way to the attendant, who comes up while the program runs. Until then signals wait in their pipe, and reports here. */
class Beside implements Channel {
  readonly #run: Attended;
  readonly #early: Report[] = [];
  readonly #post = new Int32Array(new SharedArrayBuffer(4));
  #seen: Map<string, string>;
  #port: MessagePort | undefined;
  #launched = 0;

  constructor(run: Attended) {
    this.#run = run;
    this.#seen = lookAt(run.options.policies.map((path) => resolve(path)));
  }

  report(report: Report): void {
    if (report.type === "problem" && Atomics.load(this.#post, 0) === POST.vacant) {
      tellProblem(report.text);
      return;
    }
    if (this.#port) this.#port.postMessage(report);
    else this.#early.push(report);
    if (report.type === "started") this.#started();
    else if (report.type === "policies") this.#seen = lookAt(report.files, this.#seen);
    else if (report.type === "question") this.#call();
    else if (report.type === "main-exited" && this.#run.killOrphans) native().endSession();
  }

  /** Asked for whenever the wait was interrupted; at the latest when the program has run alone for long enough. */
  orders(holding: boolean): Order | undefined {
    if (!this.#port && !holding && now() - this.#launched < ALONE_MS) return undefined;
    this.#call();
    return (receiveMessageOnPort(this.#port!) as { message: Order } | undefined)?.message;
  }

  #started(): void {
    this.#launched = now();
    native().releaseStdio();
    if (this.#run.options.timeout === undefined) native().deadline(ALONE_MS);
    else this.#call();
  }

  #call(): void {
    if (this.#port) return;
    native().deadline(0);
    const { options } = this.#run;
    const late = Math.round(now() - this.#launched);
    const left = options.timeout !== undefined && { timeout: Math.max(options.timeout - late, 1) };
    this.#port = startAttendant({
      run: { ...this.#run, options: { ...options, ...left } },
      seen: this.#seen,
      post: this.#post,
    });
    for (const report of this.#early) this.#port.postMessage(report);
  }

  /** If there is an attendant, it ends the run when it has heard everything; else it is too late for one. */
  leaveTo(last: Report): void {
    if (Atomics.compareExchange(this.#post, 0, POST.vacant, POST.closed) === POST.vacant) return;
    this.#port!.postMessage(last);
    Atomics.wait(this.#post, 0, POST.taken);
  }
}

/** Milliseconds by a clock that nobody sets. */
function now(): number {
  return process.uptime() * 1000;
}
