import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { ApprovalRow, Store } from "../store/store.js";

/** Whether another process than this one may still wait for the answer. One on another host may. */
export async function isWaitedForElsewhere({ session }: ApprovalRow, store: Store): Promise<boolean> {
  const owner = await store.session(session);
  if (!owner || owner.ended !== null) return false;
  if (owner.host === hostname() && owner.pid === process.pid) return false;
  return owner.host !== hostname() || startOf(owner.pid) === owner.pidStarted;
}

/** When a process started, in clock ticks since boot (proc(5)); undefined when there is none. */
export function startOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[19]);
  } catch {
    return undefined;
  }
}
