import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Audit } from "../audit/audit.js";
import { readStat } from "../process/proc.js";
import type { Store } from "../store/store.js";

/** An agent begins its work. */
export async function newSession(
  store: Store,
  audit: Audit,
  workspace: string,
  agent: string,
): Promise<string> {
  const id = randomUUID();
  const { pid } = process;
  const host = hostname();
  const pidStarted = readStat(pid)?.start ?? 0;
  await store.openSession({ id, started: Date.now(), host, pid, pidStarted, workspace, agent });
  await audit.record("session", { what: "opened", agent, workspace, pid }, { session: id });
  return id;
}

/**
 * What processes that were killed have left: their sessions are ended, and what they ran is said to have failed (its
 * processes ended with them). What they had parked stays parked: the answer may still come.
 */
export async function recover(store: Store, audit: Audit): Promise<void> {
  for (const { id, host, pid, pidStarted } of await store.sessions({ open: true })) {
    if (host !== hostname() || readStat(pid)?.start === pidStarted) continue;
    const time = Date.now();
    for (const call of await store.toolCalls({ session: id, status: ["PENDING", "RUNNING"] })) {
      const reason = "The process that ran it ended before it did.";
      const change = { status: "FAILED", ended: time, output: JSON.stringify({ reason }) } as const;
      if (await store.changeToolCall(call.id, ["PENDING", "RUNNING"], change))
        await audit.record("outcome", { id: call.id, status: "FAILED", reason }, { session: id });
    }
    await store.endSession(id, time);
    await audit.record("session", { what: "closed", detail: { crashed: true } }, { session: id });
  }
}
