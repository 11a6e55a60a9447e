import { once } from "node:events";
import { writeSync } from "node:fs";
import { format } from "node:util";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { Report, WorkerTask } from "./options.js";
import { supervise } from "./supervise.js";
import type { Channel } from "./supervisor.js";
import type { OrderForTask, ThreadData } from "./thread.js";

/**
 * The worker thread: it owns the tracees of one session after the other and blocks in the wait; unless policies must stay
 * elsewhere, it decides too.
 */

const port = parentPort as MessagePort;
let task = 0;
const channel: Channel = {
  report: (message: Report) => port.postMessage(message),
  orders: () => {
    for (;;) {
      const got = receiveMessageOnPort(port) as { message: OrderForTask } | undefined;
      if (!got || got.message.task === task) return got?.message.order;
    }
  },
};

// The program owns stdout. What a policy prints is HERMES's log.
for (const method of ["log", "info", "debug", "warn", "error"] as const)
  console[method] = (...values: unknown[]) => void writeSync(2, `${format(...values)}\n`);

async function workOn(tasks: MessagePort): Promise<never> {
  for (;;) {
    const [given] = (await once(tasks, "message")) as [WorkerTask];
    task++;
    channel.report(await supervise(given, channel));
  }
}

workOn((workerData as ThreadData).tasks);
