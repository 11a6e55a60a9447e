import { type MessagePort, workerData } from "node:worker_threads";
import type { Supervising } from "../session/thread.js";
import { type AttendantData, POST } from "./attendants.js";
import { finish } from "./attended.js";
import { fail } from "./output.js";

/** The thread beside one that supervises (here.ts): it does all else that a run needs, and ends it. */
const { run, seen, post, port } = workerData as AttendantData & { port: MessagePort };

const supervisor: Supervising = {
  worker: port,
  seen,
  give: () => {},
  order: (order) => port.postMessage(order),
  release: () => {},
};

// Nobody hears of it otherwise: the thread that started us blocks in the wait.
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
if (Atomics.compareExchange(post, 0, POST.vacant, POST.taken) === POST.vacant)
  import("./attend.js")
    .then(({ attend }) => attend(run, supervisor))
    .then((result) => finish(run, result))
    .catch(fail);
