import { readdirSync, readFileSync } from "node:fs";

/** Every process below one, the nearest first. What a run leaves behind is adopted by its launcher, and so stays below. */
export function processesBelow(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const parent = /^\d+$/.test(name) ? parentOf(name) : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found: number[] = [];
  for (let level = children.get(root) ?? []; level.length > 0; ) {
    found.push(...level);
    level = level.flatMap((pid) => children.get(pid) ?? []);
  }
  return found;
}

/** Also to those that are stopped: they wake up to see it. */
export function signalBelow(root: number, signal: NodeJS.Signals): void {
  for (const pid of processesBelow(root))
    for (const one of [signal, "SIGCONT"] as const)
      try {
        process.kill(pid, one);
      } catch {
        // It is gone.
      }
}

export function parentOf(pid: string | number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}
