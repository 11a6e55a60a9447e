import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { readStat } from "../../kernel/process/proc.js";
import type { Audit } from "../../record/audit/audit.js";
import type { Store } from "../../record/store/store.js";

/** Starts an agent's session. */
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
 * Cleans up after killed processes: ends their sessions and marks their running calls as failed (the commands died with
 * them). Parked calls stay parked: an answer may still come.
 */
export async function recover(store: Store, audit: Audit): Promise<void> {
  for (const { id, host, pid, pidStarted } of await store.sessions({ open: true })) {
    if (host !== hostname() || readStat(pid)?.start === pidStarted) continue;
    const time = Date.now();
    for (const call of await store.toolCalls({ session: id, status: ["PENDING", "RUNNING"] })) {
      const reason = "HERMES ended before the call did.";
      const change = { status: "FAILED", ended: time, output: JSON.stringify({ reason }) } as const;
      if (await store.changeToolCall(call.id, ["PENDING", "RUNNING"], change))
        await audit.record("outcome", { id: call.id, status: "FAILED", reason }, { session: id });
    }
    await store.endSession(id, time);
    await audit.record("session", { what: "closed", detail: { crashed: true } }, { session: id });
  }
}
