import type { ApprovalsSection } from "../intent/guard/config/approvals.js";
import { type Answer, answerFor } from "../people/approval/answer.js";
import type { AnswerService } from "../people/approval/answer-service.js";
import { storable } from "../record/store/sql.js";
import type { ApprovalRow, Store } from "../record/store/store.js";
import type { HostConnection } from "./host-connection.js";

/** What happens to questions while the fleet is unreachable: `approvals.offline` of hermes.yaml. */
export type Offline = ApprovalsSection["offline"];

interface Answered {
  readonly id: string;
  readonly state: ApprovalRow["state"];
  readonly scope: ApprovalRow["scope"];
  readonly answered_by: string | null;
  readonly note: string | null;
}

/**
 * Forwards this host's questions to the fleet, and the answers back. A question has one row here and one there; each takes
 * one answer. The row here is authoritative: the session waits for it.
 */
export class QuestionRelay {
  readonly #line: HostConnection;
  readonly #store: Store;
  readonly #answers: AnswerService;
  readonly #offline: () => Offline;
  /** Forwarded, and not yet known to be closed on both sides. */
  #open = new Set<string>();
  /** Sessions with questions that the server knows as running. */
  #sessions = new Set<string>();
  /** Open questions on the server are fetched first: an earlier agent may have left some. */
  #stale = true;

  constructor(line: HostConnection, store: Store, answers: AnswerService, offline: () => Offline) {
    this.#line = line;
    this.#store = store;
    this.#answers = answers;
    this.#offline = offline;
  }

  /** Another server may answer next, whose copy is older. */
  lost(): void {
    this.#stale = true;
  }

  async exchange(answered: boolean): Promise<void> {
    await this.#answers.withdrawEnded();
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
    // Includes new ones: they may have been answered while this host was disconnected, or before a crash.
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
    // By the server's clock, because its answers expire by it.
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
          ? // "always" on this host belongs in its policy; a remote answer cannot grant it.
            await this.#answer(
              id,
              answerFor(state === "granted", scope === "session" ? "session" : "once"),
              by,
              note,
            )
          : state === "expired" && (await this.#answer(id, "no", by, "no approver answered in time"));
      if (mine && state === "granted") await this.#line.ask("SELECT spent($1)", [id]);
      this.#open.delete(id);
    }
  }

  async #answer(id: string, answer: Answer, by: string, note: string | null): Promise<boolean> {
    const row = await this.#store.approval(id);
    if (row?.state !== "pending") return false;
    return (await this.#answers.answer(id, { answer, by, ...(note !== null && { note }) })).mine;
  }

  /** The question was answered here, or its session no longer waits. */
  async #over(id: string): Promise<void> {
    const row = await this.#store.approval(id);
    const why = row ? `${row.state} on the host${row.answeredBy ? ` by ${row.answeredBy}` : ""}` : "gone";
    await this.#line.ask("SELECT take_back($1, $2)", [id, why]);
    await this.#line.ask("SELECT pg_notify('hermes_approvals', '')");
    this.#open.delete(id);
  }

  /** The fleet is unreachable. */
  async answerOffline(): Promise<void> {
    const choice = this.#offline();
    if (choice === "wait") return;
    for (const { id } of await this.#store.approvals({ state: ["pending"] }))
      await this.#answers.answer(id, {
        answer: choice === "allow" ? "once" : "no",
        by: "offline",
        note: "the fleet is unreachable",
      });
  }
}
