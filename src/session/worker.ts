import { once } from "node:events";
import { writeSync } from "node:fs";
import { format } from "node:util";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { Order, Report, WorkerTask } from "./options.js";
import { supervise } from "./supervise.js";
import type { Channel } from "./supervisor.js";
import type { ThreadData } from "./thread.js";

/**
 * The worker thread: it owns the tracees of one session after the other and blocks in the wait; unless policies must stay
 * elsewhere, it decides too.
 */

const port = parentPort as MessagePort;
const channel: Channel = {
  report: (message: Report) => port.postMessage(message),
  orders: () => (receiveMessageOnPort(port) as { message: Order } | undefined)?.message,
};

// The program owns stdout. What a policy prints is HERMES's log.
for (const method of ["log", "info", "debug", "warn", "error"] as const)
  console[method] = (...values: unknown[]) => void writeSync(2, `${format(...values)}\n`);

async function workOn(tasks: MessagePort): Promise<never> {
  for (;;) {
    const [task] = (await once(tasks, "message")) as [WorkerTask];
    while (channel.orders()); // meant for a session that was over before it heard of them
    channel.report(await supervise(task, channel));
  }
}

workOn((workerData as ThreadData).tasks);
