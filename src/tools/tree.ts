import { processesBelow } from "../process/proc.js";

/** To every process of a run, also to those that are stopped: they wake up to see it. */
export function signalBelow(launcher: number, signal: NodeJS.Signals): void {
  for (const { pid } of processesBelow(launcher))
    for (const one of [signal, "SIGCONT"] as const)
      try {
        process.kill(pid, one);
      } catch {
        // It is gone.
      }
}
