import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { HOME } from "../home.js";
import type { Attended } from "./attended.js";

/** Whether there is an attendant. Who changes it first from vacant ends the run. */
export const POST = { vacant: 0, taken: 1, closed: 2 } as const;

/** What an attendant is born with. */
export interface AttendantData {
  readonly run: Attended;
  /** The policies' files as they were when they were loaded. */
  readonly seen: ReadonlyMap<string, string>;
  /** One of POST. */
  readonly post: Int32Array;
}

/** Reports go there, orders come from there. */
export function startAttendant(data: AttendantData): MessagePort {
  const { port1, port2 } = new MessageChannel();
  new Worker(`${HOME}dist/cli/attendant.cjs`, {
    workerData: { ...data, port: port2 },
    transferList: [port2],
    execArgv: [],
    stdout: true, // never looked at: see Thread
    stderr: true,
  });
  return port1;
}
