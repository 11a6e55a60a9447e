import { writeSync } from "node:fs";
import { format } from "node:util";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { HermesError } from "../errors.js";
import type { Order, Report, SessionOptions } from "./options.js";
import { Supervisor } from "./supervisor.js";

/** The worker thread: it owns the tracees, runs the policies, and blocks in the wait. */

const port = parentPort as MessagePort;
const report = (message: Report) => port.postMessage(message);

// The program owns stdout. What a policy prints is HERMES's log.
for (const method of ["log", "info", "debug", "warn", "error"] as const)
  console[method] = (...values: unknown[]) => void writeSync(2, `${format(...values)}\n`);

try {
  const supervisor = await Supervisor.start(workerData as SessionOptions, {
    report,
    orders: () => {
      const message = receiveMessageOnPort(port) as { message: Order } | undefined;
      return message?.message;
    },
  });
  report({ type: "done", result: supervisor.run() });
} catch (error) {
  const known =
    error instanceof HermesError
      ? error
      : new HermesError("SUPERVISOR", { message: (error as Error).stack ?? String(error) }, { cause: error });
  report({ type: "failed", code: known.code, message: known.message, exitCode: known.exitCode });
}
