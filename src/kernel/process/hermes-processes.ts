import { readStat, readText } from "./proc.js";

/**
 * The processes of HERMES around a program: this one, its launchers, their brokers and proxy processes
 * (native/broker/broker-main.c).
 */

const LAUNCHER = "hermes-launch";

const nameOf = (pid: number) => readText(`/proc/${pid}/comm`).trim();

/** A child of this process that owns a session. */
export function isLauncher(pid: number): boolean {
  return nameOf(pid) === LAUNCHER && readStat(pid)?.parent === process.pid;
}

/** A launcher's child, which is the parent of the program. */
export function isBroker(pid: number): boolean {
  const parent = readStat(pid)?.parent;
  return parent !== undefined && isLauncher(parent);
}

/**
 * True for this process, its children, a broker, or a proxy process that makes one call for a broker: it
 * inherits all of the broker's descriptors.
 */
export function isHermesProcess(pid: number): boolean {
  const parent = pid === process.pid ? process.pid : readStat(pid)?.parent;
  if (parent === undefined || parent === process.pid || isLauncher(parent)) return parent !== undefined;
  return nameOf(pid).startsWith("hermes-") && isBroker(parent);
}
