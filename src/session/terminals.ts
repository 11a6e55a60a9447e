import { statSync } from "node:fs";
import type { CallEvent } from "../event.js";
import { isBelow, processes, readText } from "../process/proc.js";

/** Terminals by name. Where else one lies, nobody sits in front of it. */
const TERMINAL = /^\/dev\/(?:pts\/\d+|tty[A-Z]*\d+|console)$/;

/** For patterns: what is written to these is always looked at. */
export const TERMINALS: readonly string[] = ["/dev/pts/*", "/dev/tty*", "/dev/console"];

/**
 * Whether a path is a terminal that somebody outside of the session works on, and the caller does not have: what it wrote
 * there would stand among what a person is shown, or asked.
 */
export function isTerminalOfOthers(path: string, event: CallEvent): boolean {
  if (!TERMINAL.test(path)) return false;
  const device = statSync(path, { throwIfNoEntry: false })?.rdev;
  if (device === undefined || controlling(event.tid) === device) return false;
  if (event.process.fds.some(({ target }) => target === path)) return false;
  return processes().some((pid) => controlling(pid) === device && !isBelow(pid, process.pid));
}

/** proc(5): tty_nr, which has the form of a small dev_t. */
function controlling(pid: number): number {
  const text = readText(`/proc/${pid}/stat`);
  return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[4] ?? 0);
}
