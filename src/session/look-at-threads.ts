import { native, SIGHT } from "../kernel/native.js";
import type { ProcessTable } from "../process/table.js";

/** Threads of a program that runs already may have gone apart before we came. */
export function lookAtThreads(pid: number, processes: ProcessTable): void {
  processes.attached = pid;
  for (const tid of processes.get(pid).threads) {
    const sight = native().sight(tid);
    if (sight & SIGHT.apart) processes.viewsDiffer = true;
    if (sight & SIGHT.stranger) processes.identitiesDiffer = true;
  }
}
