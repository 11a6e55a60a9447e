import { SIGNALLING, type Syscall } from "../abi/index.js";
import type { ProcessInfo, Receiver } from "../event.js";
import type { Stop } from "../kernel/stop.js";
import { meantBy, receiversOf, UNKNOWN } from "../process/receivers.js";
import type { Processes } from "./reach.js";

/** The other end of a pseudo-terminal signals whoever is in its foreground. */
const TIOCSIG = 0x40045436;

/** Whom the call signals, found when somebody asks. */
export function findReceivers(
  { name }: Syscall,
  stop: Stop,
  process: ProcessInfo,
  processes: Processes,
): readonly Receiver[] {
  if (!SIGNALLING.has(name)) return [];
  const meant = meantBy(name, (i) => stop.int(i));
  if (!meant) return name === "ioctl" && stop.uint(1) === TIOCSIG ? [UNKNOWN] : [];
  const { pid, parentPid } = process;
  return receiversOf(meant, { tid: stop.tid, pid, parentPid }, (other) => processes.isOfRun(other, pid));
}
