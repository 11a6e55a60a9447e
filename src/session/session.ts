import { Worker } from "node:worker_threads";
import { type ErrorCode, HermesError } from "../errors.js";
import { native } from "../kernel/native.js";
import type { Order, Report, SessionOptions, SessionResult } from "./options.js";

export interface SessionEvents {
  started?(pid: number): void;
  /** The program that was started has ended; processes that it left behind may still run. */
  mainExited?(): void;
  mainStopped?(signal: number): void;
  problem?(text: string): void;
}

const REPEAT_MS = 5;

/** One supervised run, seen from the main thread. */
export class Session {
  readonly result: Promise<SessionResult>;
  readonly #worker: Worker;
  #workerTid: number | undefined;
  #pid: number | undefined;
  #unheard = 0;
  #nudge: NodeJS.Timeout | undefined;

  constructor(options: SessionOptions, events: SessionEvents = {}) {
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: options, execArgv: [] });
    this.result = new Promise((resolve, reject) => {
      this.#worker.on("message", (report: Report) => {
        if (report.type === "done") resolve(report.result);
        else if (report.type === "failed") reject(failure(report));
        else this.#hear(report, events);
      });
      this.#worker.on("error", (cause) =>
        reject(new HermesError("SUPERVISOR", { message: String(cause) }, { cause })),
      );
      this.#worker.on("exit", () => reject(new HermesError("SUPERVISOR", { message: "its thread ended" })));
    });
    this.result.catch(() => {}).finally(() => clearInterval(this.#nudge));
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  #hear(report: Report, events: SessionEvents): void {
    switch (report.type) {
      case "started":
        this.#pid = report.pid;
        this.#workerTid = report.worker;
        events.started?.(report.pid);
        if (this.#unheard > 0) this.#wake();
        break;
      case "main-exited":
        events.mainExited?.();
        break;
      case "main-stopped":
        events.mainStopped?.(report.signal);
        break;
      case "problem":
        events.problem?.(report.text);
        break;
      case "heard":
        this.#unheard--;
        break;
    }
  }

  /** Kills every process of the session. */
  end(): void {
    this.#order({ type: "end" });
  }

  /** Sends a signal to the program that was started. */
  signal(number: number): void {
    if (this.#pid !== undefined) native().kill(this.#pid, number);
  }

  #order(order: Order): void {
    this.#worker.postMessage(order);
    this.#unheard++;
    this.#wake();
  }

  /** The worker blocks in the kernel; a signal that comes just before it blocks is lost, so it is repeated. */
  #wake(): void {
    clearInterval(this.#nudge);
    const once = () => {
      if (this.#unheard === 0) clearInterval(this.#nudge);
      else if (this.#workerTid !== undefined) native().wake(this.#workerTid);
    };
    once();
    this.#nudge = setInterval(once, REPEAT_MS);
    this.#nudge.unref();
  }
}

function failure(report: Extract<Report, { type: "failed" }>): HermesError {
  const error = new HermesError(report.code as ErrorCode);
  error.message = report.message;
  return error;
}
