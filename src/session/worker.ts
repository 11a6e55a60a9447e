import { once } from "node:events";
import { writeSync } from "node:fs";
import { format } from "node:util";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { WorkerReport, WorkerTask } from "./options.js";
import { supervise } from "./supervise.js";
import type { SupervisorChannel } from "./supervisor.js";
import type { OrderForTask, ThreadData } from "./thread.js";

/**
 * The worker thread: it owns the tracees of one session after the other and blocks in wait. It also decides,
 * unless the policies must stay in the host's thread.
 */

const port = parentPort as MessagePort;
let task = 0;
const channel: SupervisorChannel = {
  report: (message: WorkerReport) => port.postMessage(message),
  orders: () => {
    for (;;) {
      const got = receiveMessageOnPort(port) as { message: OrderForTask } | undefined;
      if (!got || got.message.task === task) return got?.message.order;
    }
  },
};

// The program owns stdout, so a policy's output goes to HERMES's log.
for (const method of ["log", "info", "debug", "warn", "error"] as const)
  console[method] = (...values: unknown[]) => void writeSync(2, `${format(...values)}\n`);

async function workOn(tasks: MessagePort): Promise<never> {
  for (;;) {
    const [given] = (await once(tasks, "message")) as [WorkerTask];
    task++;
    channel.report(await supervise(given, channel));
  }
}

const { tasks, checks } = workerData as ThreadData;
// A failure to load it will fail the task.
if (checks) import("../intent/runtime-check/policy.js").catch(() => {});
workOn(tasks);
