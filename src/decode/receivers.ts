import { SIGNALLING, type Syscall } from "../abi/index.js";
import type { ProcessInfo, Receiver } from "../event.js";
import type { Stop } from "../kernel/stop.js";
import { meantBy, receiversOf, UNKNOWN } from "../process/receivers.js";
import type { Processes } from "./reach.js";

/** Whom the call signals, found when somebody asks. */
export function findReceivers(
  { name }: Syscall,
  stop: Stop,
  process: ProcessInfo,
  processes: Processes,
): readonly Receiver[] {
  if (!SIGNALLING.has(name)) return [];
  const meant = meantBy(name, (i) => stop.int(i));
  if (!meant) return name === "ioctl" ? [UNKNOWN] : [];
  const { pid, parentPid } = process;
  return receiversOf(meant, { tid: stop.tid, pid, parentPid }, (other) => processes.isOfRun(other, pid));
}
