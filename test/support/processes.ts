import { readdirSync, readFileSync } from "node:fs";

/** Text of a file of /proc; empty when what it is about has ended. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

export function listOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The name of a process or thread, by its folder in /proc. */
export const nameOf = (folder: string): string => textOf(`${folder}/comm`).trim();

/** Every process below one. */
export function below(pid: number): number[] {
  const children = listOf(`/proc/${pid}/task`).flatMap((thread) =>
    textOf(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...below(child)]);
}

export const isRunning = (pid: number): boolean => /\) [^ZX]/.test(textOf(`/proc/${pid}/stat`));
