import { statSync } from "node:fs";
import { isBelow, processes, readText } from "../kernel/process/proc.js";
import type { CallEvent } from "../nouns/event.js";

/** Terminals by name. No user works at a terminal elsewhere. */
const TERMINAL = /^\/dev\/(?:pts\/\d+|tty[A-Z]*\d+|console)$/;

/** For patterns: writes to these are always checked. */
export const TERMINALS: readonly string[] = ["/dev/pts/*", "/dev/tty*", "/dev/console"];

/**
 * True for a terminal that a user outside the session works at, and that is not the caller's own. Its output
 * could forge what HERMES shows or asks there.
 */
export function isTerminalOfOthers(path: string, event: CallEvent): boolean {
  if (!TERMINAL.test(path)) return false;
  const device = statSync(path, { throwIfNoEntry: false })?.rdev;
  if (device === undefined || controlling(event.tid) === device) return false;
  if (event.process.fds.some(({ target }) => target === path)) return false;
  return processes().some((pid) => controlling(pid) === device && !isBelow(pid, process.pid));
}

/** proc(5): tty_nr, in the form of an old dev_t. */
function controlling(pid: number): number {
  const text = readText(`/proc/${pid}/stat`);
  return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[4] ?? 0);
}
