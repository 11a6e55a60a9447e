import { native } from "../kernel/native.js";
import { isOurProcess } from "./ours.js";
import { processesBelow, readText } from "./proc.js";

/**
 * Whether another thread or process could exchange what a number of this thread's descriptors means, while it waits in a
 * call. Only processes of a session share their descriptors with one of it, and all of them are below us.
 */
export function sharesDescriptors(tid: number): boolean {
  const status = readText(`/proc/${tid}/status`);
  const process_ = Number(/^Tgid:\t(\d+)$/m.exec(status)?.[1]);
  if (/^Threads:\t(\d+)$/m.exec(status)?.[1] !== "1") return true;
  const others = processesBelow(process.pid).filter(({ pid }) => pid !== process_ && !isOurProcess(pid));
  return others.some(({ pid }) => !isApart(tid, pid));
}

const ESRCH = 3;

/** One that is gone, or that has ended, shares nothing. */
function isApart(tid: number, other: number): boolean {
  const same = native().sameDescriptors(tid, other);
  return same === 0 || same === -ESRCH;
}
