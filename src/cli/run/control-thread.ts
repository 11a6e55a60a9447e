import { type MessagePort, workerData } from "node:worker_threads";
import type { Supervising } from "../../session/thread.js";
import { fail } from "../views/output.js";
import { finishRun } from "./controlled-run.js";
import { RunRecorder, recordFailedRun } from "./record-run.js";
import { CONTROL_STATE, type ControlThreadData } from "./start-control-thread.js";

/**
 * The control thread beside the supervising thread (here.ts): it does everything else that a run needs, and ends the run.
 */
const { run, seen, state, port } = workerData as ControlThreadData & { port: MessagePort };

const recorder = new RunRecorder(run);

const supervisor: Supervising = {
  worker: port,
  seen,
  give: () => {},
  order: (order) => port.postMessage(order),
  release: () => {},
};

// The thread that started us blocks in the wait, and would not hear of it.
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
if (Atomics.compareExchange(state, 0, CONTROL_STATE.vacant, CONTROL_STATE.taken) === CONTROL_STATE.vacant)
  import("./control.js")
    .then(({ controlRun }) => controlRun(run, recorder, supervisor))
    .then(
      (result) => finishRun(run, result, recorder),
      async (error) => {
        await recordFailedRun(run, error);
        throw error;
      },
    )
    .catch(fail);
