import { hostname } from "node:os";
import { readStat } from "../process/proc.js";
import type { ApprovalRow, Store } from "../store/store.js";

/** Whether another process than this one may still wait for the answer. One on another host may. */
export async function isWaitedForElsewhere({ session }: ApprovalRow, store: Store): Promise<boolean> {
  const owner = await store.session(session);
  if (!owner || owner.ended !== null) return false;
  if (owner.host === hostname() && owner.pid === process.pid) return false;
  return owner.host !== hostname() || readStat(owner.pid)?.start === owner.pidStarted;
}
