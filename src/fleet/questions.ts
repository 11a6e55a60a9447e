import type { Desk } from "../approval/desk.js";
import type { ApprovalsSection } from "../guard/config/approvals.js";
import { storable } from "../store/sql.js";
import type { ApprovalRow, Store } from "../store/store.js";
import type { Line } from "./line.js";

/** What becomes of questions while the fleet cannot be asked: `approvals.offline` of hermes.yaml. */
export type Offline = ApprovalsSection["offline"];

interface Answered {
  readonly id: string;
  readonly state: ApprovalRow["state"];
  readonly scope: ApprovalRow["scope"];
  readonly answered_by: string | null;
  readonly note: string | null;
}

/**
 * Carries what waits on this host to where people answer, and their answers back. A question has one row here and one
 * there; each takes one answer. What counts is the row here: it is what a session waits for.
 */
export class Questions {
  readonly #line: Line;
  readonly #store: Store;
  readonly #desk: Desk;
  readonly #offline: () => Offline;
  /** Asked there, and not yet known to be over on both sides. */
  #open = new Set<string>();
  /** Those that asked, as far as they are known there to be at work. */
  #sessions = new Set<string>();
  /** What is open there must be asked first: an agent before this one may have left something. */
  #stale = true;

  constructor(line: Line, store: Store, desk: Desk, offline: () => Offline) {
    this.#line = line;
    this.#store = store;
    this.#desk = desk;
    this.#offline = offline;
  }

  /** Another server may answer next, which knows less. */
  lost(): void {
    this.#stale = true;
  }

  async exchange(answered: boolean): Promise<void> {
    const pending = await this.#store.approvals({ state: ["pending"] });
    if (this.#stale) {
      this.#stale = false;
      const rows = await this.#line.ask<{ id: string }>("SELECT id FROM approval WHERE state = 'pending'");
      this.#open = new Set(rows.map(({ id }) => id));
      const begun = await this.#line.ask<{ id: string }>("SELECT id FROM session WHERE ended IS NULL");
      this.#sessions = new Set(begun.map(({ id }) => id));
    }
    const waiting = new Set(pending.map(({ id }) => id));
    const fresh = pending.filter(({ id }) => !this.#open.has(id));
    for (const row of fresh) await this.#put(row);
    // New ones too: it may have been answered while this host was away, or before a crash.
    if (answered || fresh.length > 0) await this.#fetchAnswers();
    for (const id of this.#open)
      if (!waiting.has(id) && !fresh.some((row) => row.id === id)) await this.#over(id);
    await this.#endSessions();
  }

  async #endSessions(): Promise<void> {
    for (const id of this.#sessions) {
      const session = await this.#store.session(id);
      if (session?.ended === null) continue;
      await this.#line.ask("UPDATE session SET ended = server_now() WHERE id = $1 AND ended IS NULL", [id]);
      this.#sessions.delete(id);
    }
  }

  async #put(row: ApprovalRow): Promise<void> {
    const owner = await this.#store.session(row.session);
    if (owner) {
      this.#sessions.add(owner.id);
      await this.#line.ask(
        `INSERT INTO session (id, started, host, pid, pid_started, workspace, agent, owner)
         VALUES ($1, $2, me(), $3, $4, $5, $6, me()) ON CONFLICT (id) DO NOTHING`,
        [owner.id, owner.started, owner.pid, owner.pidStarted, owner.workspace, owner.agent].map(storable),
      );
    }
    // By the server's clock, since that is what its answers go by.
    await this.#line.ask(
      `INSERT INTO approval (id, kind, session, created, expires, digest, keys, what, detail, state, owner)
       VALUES ($1, $2, $3, server_now(), server_now() + $4, $5, $6, $7, $8, 'pending', me())
       ON CONFLICT (id) DO NOTHING`,
      [
        ...[row.id, row.kind, row.session, Math.max(row.expires - Date.now(), 0), row.digest],
        ...[row.keys, row.what, row.detail],
      ].map(storable),
    );
    await this.#line.ask("SELECT pg_notify('hermes_approvals', '')");
    this.#open.add(row.id);
  }

  async #fetchAnswers(): Promise<void> {
    if (this.#open.size === 0) return;
    const answers = await this.#line.ask<Answered>(
      `SELECT id, state, scope, answered_by, note FROM approval WHERE id = ANY($1) AND state <> 'pending'`,
      [[...this.#open]],
    );
    for (const { id, state, scope, answered_by, note } of answers) {
      const by = `fleet:${answered_by ?? "?"}`;
      const mine =
        state === "granted" || state === "refused"
          ? // What is to hold for always on this host is written into its policy, not answered from afar.
            await this.#answer(
              id,
              state === "refused" ? "no" : scope === "session" ? "session" : "once",
              by,
              note,
            )
          : state === "expired" && (await this.#answer(id, "no", by, "nobody answered in time"));
      if (mine && state === "granted") await this.#line.ask("SELECT spent($1)", [id]);
      this.#open.delete(id);
    }
  }

  async #answer(
    id: string,
    answer: "no" | "once" | "session",
    by: string,
    note: string | null,
  ): Promise<boolean> {
    const row = await this.#store.approval(id);
    if (row?.state !== "pending") return false;
    return (await this.#desk.answer(id, { answer, by, ...(note !== null && { note }) })).mine;
  }

  /** It was answered here, or nobody waits any more. */
  async #over(id: string): Promise<void> {
    const row = await this.#store.approval(id);
    const why = row ? `${row.state} on the host${row.answeredBy ? ` by ${row.answeredBy}` : ""}` : "gone";
    await this.#line.ask("SELECT take_back($1, $2)", [id, why]);
    await this.#line.ask("SELECT pg_notify('hermes_approvals', '')");
    this.#open.delete(id);
  }

  /** Nobody can be asked. */
  async answerOffline(): Promise<void> {
    const choice = this.#offline();
    if (choice === "wait") return;
    for (const { id } of await this.#store.approvals({ state: ["pending"] }))
      await this.#desk.answer(id, {
        answer: choice === "allow" ? "once" : "no",
        by: "offline",
        note: "the fleet cannot be reached",
      });
  }
}
