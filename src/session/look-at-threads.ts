import type { ProcessTable } from "../process/table.js";

/** Threads of a program that runs already may have gone apart before we came. */
export function lookAtThreads(pid: number, processes: ProcessTable): void {
  processes.attached = pid;
  for (const tid of processes.get(pid).threads) processes.look(0, tid);
}
