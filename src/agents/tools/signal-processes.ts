import { processesBelow } from "../../kernel/process/proc.js";

/** Signals every process of a run, including stopped ones, which are continued to receive it. */
export function signalProcesses(launcher: number, signal: NodeJS.Signals): void {
  for (const { pid } of processesBelow(launcher))
    for (const one of [signal, "SIGCONT"] as const)
      try {
        process.kill(pid, one);
      } catch {
        // The process has ended.
      }
}
