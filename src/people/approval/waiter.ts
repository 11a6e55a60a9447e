import { hostname } from "node:os";
import { readStat } from "../../kernel/process/proc.js";
import type { ApprovalRow, SessionRow, Store } from "../../record/store/store.js";

/** Whether another process than this one may still wait for the answer. One on another host may. */
export async function isWaitedForElsewhere({ session }: ApprovalRow, store: Store): Promise<boolean> {
  const owner = await store.session(session);
  if (!owner || hasEnded(owner)) return false;
  return owner.host !== hostname() || owner.pid !== process.pid;
}

/** Whether the process that a session belongs to has ended, as far as this host can tell. */
export function hasEnded({ ended, host, pid, pidStarted }: SessionRow): boolean {
  return ended !== null || (host === hostname() && readStat(pid)?.start !== pidStarted);
}
