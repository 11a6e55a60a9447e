import { SIGNALLING, type Syscall } from "../../abi/index.js";
import { flagsValue } from "../../abi/named.js";
import type { ProcessInfo, Receiver } from "../../nouns/event.js";
import type { Stop } from "../binding/stop.js";
import { receiversOf, signalTarget, UNKNOWN_RECEIVER } from "../process/receivers.js";
import type { ProcessLookup } from "./reach-path.js";

/** The master end of a pseudo-terminal signals the foreground process group. */
const TIOCSIG = flagsValue("ioctl", "TIOCSIG");

/** The processes that the call signals, found on first use. */
export function findReceivers(
  { name }: Syscall,
  stop: Stop,
  process: ProcessInfo,
  processes: ProcessLookup,
): readonly Receiver[] {
  if (!SIGNALLING.has(name)) return [];
  const meant = signalTarget(name, (i) => stop.int(i));
  if (!meant) return name === "ioctl" && stop.uint(1) === TIOCSIG ? [UNKNOWN_RECEIVER] : [];
  const { pid, parentPid } = process;
  return receiversOf(meant, { tid: stop.tid, pid, parentPid }, (other) => processes.isOfRun(other, pid));
}
