import { readStat, readText } from "./proc.js";

/** The processes of HERMES around a program: this one, its launchers, their brokers and stand-ins (native/household.c). */

const LAUNCHER = "hermes-launch";

const nameOf = (pid: number) => readText(`/proc/${pid}/comm`).trim();

/** A child of this process that holds a session. */
export function isLauncher(pid: number): boolean {
  return nameOf(pid) === LAUNCHER && readStat(pid)?.parent === process.pid;
}

/** A launcher's child, which is the parent of the program. */
export function isBroker(pid: number): boolean {
  const parent = readStat(pid)?.parent;
  return parent !== undefined && isLauncher(parent);
}

/** This process, a child of it, a broker, or a process that makes one call in a broker's place: it has all that the broker has. */
export function isOurProcess(pid: number): boolean {
  const parent = pid === process.pid ? process.pid : readStat(pid)?.parent;
  if (parent === undefined || parent === process.pid || isLauncher(parent)) return parent !== undefined;
  return nameOf(pid).startsWith("hermes-") && isBroker(parent);
}
