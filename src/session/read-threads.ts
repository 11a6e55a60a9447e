import type { ProcessTable } from "../kernel/process/process-table.js";

/** Threads of a running program may have got different views or identities before we attached. */
export function readThreads(pid: number, processes: ProcessTable): void {
  processes.attached = pid;
  for (const tid of processes.get(pid).threads) processes.look(0, tid);
}
