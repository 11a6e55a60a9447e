import { errnoValue } from "../../abi/named.js";
import { native } from "../binding/native.js";
import { isHermesProcess } from "./hermes-processes.js";
import { processesBelow, readText } from "./proc.js";

/**
 * True when another thread or process could replace a descriptor of this thread while the thread waits in a
 * call. Only processes of the same session share descriptors, and all of them are below us.
 */
export function sharesDescriptors(tid: number): boolean {
  const status = readText(`/proc/${tid}/status`);
  const process_ = Number(/^Tgid:\t(\d+)$/m.exec(status)?.[1]);
  if (/^Threads:\t(\d+)$/m.exec(status)?.[1] !== "1") return true;
  const others = processesBelow(process.pid).filter(({ pid }) => pid !== process_ && !isHermesProcess(pid));
  return others.some(({ pid }) => !isApart(tid, pid));
}

const ESRCH = errnoValue("ESRCH");

/** A process that has ended shares nothing. */
function isApart(tid: number, other: number): boolean {
  const same = native().sameDescriptors(tid, other);
  return same === 0 || same === -ESRCH;
}
