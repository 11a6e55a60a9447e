import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { HOME } from "../../nouns/home.js";
import type { ControlledRun } from "./controlled-run.js";

/** Whether there is a control thread. The first side that changes the state from vacant ends the run. */
export const CONTROL_STATE = { vacant: 0, taken: 1, closed: 2 } as const;

/** What a control thread gets at its start. */
export interface ControlThreadData {
  readonly run: ControlledRun;
  /** The policy files as they were when they were loaded. */
  readonly seen: ReadonlyMap<string, string>;
  /** One of POST. */
  readonly state: Int32Array;
}

/** Carries reports to the control thread and orders from it. */
export function startControlThread(data: ControlThreadData): MessagePort {
  const { port1, port2 } = new MessageChannel();
  new Worker(`${HOME}dist/cli/control-thread.cjs`, {
    workerData: { ...data, port: port2 },
    transferList: [port2],
    execArgv: [],
    stdout: true, // never read: see Thread
    stderr: true,
  });
  return port1;
}
