import { redact } from "../../intent/guard/credentials/secrets.js";
import { HermesError } from "../../nouns/errors.js";
import type { Audit } from "../../record/audit/audit.js";
import type { ApprovalAnswer, ApprovalRow, Store } from "../../record/store/store.js";
import { type AnswerList, addToAllowList, readAnswerLists, removeFromAnswerLists } from "./allow-list.js";
import { type Answer, kindOf } from "./answer.js";
import { type ApprovalItem, itemOf } from "./approval-item.js";
import { findLasting, type LastingAnswer, lastingAnswers } from "./lasting.js";
import { EXACT_COMMAND } from "./preset-answer.js";
import { hasEnded } from "./waiter.js";

export interface GivenAnswer {
  readonly answer: Answer;
  /** `terminal:root`, `cli:root`, `webhook:pager` */
  readonly by: string;
  /** A word to the agent. */
  readonly note?: string;
}

export interface Answered {
  /** This answer counts; else another approver was faster, or the question is over. */
  readonly mine: boolean;
  readonly item: ApprovalItem;
  /** For the approver: who was faster, why it does not hold for always. */
  readonly told?: string;
}

export interface AnswerServiceOptions {
  readonly store: Store;
  /** The user's hermes.yaml, where answers for always are kept; without it there are none. */
  readonly userFile?: string;
  readonly audit?: Pick<Audit, "record">;
}

const NOTE_AT_MOST = 2000;

/** The answer service: takes answers of every approver, for questions of this process and of others. */
export class AnswerService {
  readonly #options: AnswerServiceOptions;

  constructor(options: AnswerServiceOptions) {
    this.#options = options;
  }

  async answer(id: string, { answer, by, note }: GivenAnswer): Promise<Answered> {
    const { store } = this.#options;
    await this.sweep();
    const before = await store.approval(id);
    if (!before) throw new HermesError("APPROVAL", { id, message: "there is no such approval" });
    const { grants, scope: wanted } = kindOf(answer);
    const barred =
      (wanted !== "once" && grants ? whyOnlyOnce(before) : undefined) ??
      (wanted === "always" ? this.#whyNotAlways(before, grants) : undefined);
    const holds = barred === undefined ? wanted : "once";
    // A refusal that holds once has no scope.
    const scope = grants || holds !== "once" ? holds : undefined;
    if (before.state !== "pending") return tooLate(before);
    const given: ApprovalAnswer = {
      state: grants ? "granted" : "refused",
      by,
      time: Date.now(),
      ...(scope && { scope }),
      ...(note && { note: redact(note).text.slice(0, NOTE_AT_MOST) }),
    };
    // Recorded before it counts: no answer takes effect that the audit does not have.
    await this.#record({
      ...before,
      ...given,
      scope: scope ?? null,
      answeredBy: by,
      note: given.note ?? null,
    });
    const { mine, row } = await store.answer(id, given);
    if (!mine) {
      await this.#record({ ...row, note: `${by} came too late` });
      return tooLate(row);
    }
    const item = itemOf(row);
    const told =
      barred === undefined
        ? undefined
        : `not for ${wanted === "always" ? "always" : "the session"}: ${barred}; once, then`;
    const trouble = scope === "always" ? await this.#keep(row, by, grants ? "allow" : "deny") : undefined;
    return { mine, item, ...((told ?? trouble) !== undefined && { told: (told ?? trouble)! }) };
  }

  /** The question needs no answer any more. */
  async withdraw(id: string, note: string): Promise<void> {
    const { store } = this.#options;
    const time = Date.now();
    const { mine, row } = await store.answer(id, { state: "withdrawn", by: "hermes", note, time });
    if (mine) await this.#record(row);
  }

  /** Questions whose time is over expire; those of programs that have ended are withdrawn. */
  async sweep(): Promise<void> {
    const { store } = this.#options;
    for (const row of await store.expire(Date.now())) await this.#record(row);
    await this.withdrawEnded();
  }

  /** Withdraws questions of running programs that have ended. */
  async withdrawEnded(): Promise<void> {
    const { store } = this.#options;
    const over = new Map<string, boolean>();
    for (const { id, session } of await store.approvals({ kind: "DEED", state: ["pending"] })) {
      if (!over.has(session)) {
        const owner = await store.session(session);
        over.set(session, owner !== undefined && hasEnded(owner));
      }
      if (over.get(session)) await this.withdraw(id, "the program that asked has ended");
    }
  }

  /** The answers that hold for always, with what each of them covers. */
  async lasting(): Promise<readonly LastingAnswer[]> {
    const { store, userFile } = this.#options;
    return userFile === undefined ? [] : lastingAnswers(store, readAnswerLists(userFile));
  }

  /** Takes back an answer for always, named by its key or by the beginning of its digest. */
  async revoke(id: string, by: string): Promise<LastingAnswer> {
    const { store, audit, userFile } = this.#options;
    const found = findLasting(await this.lasting(), id);
    const { key } = found;
    await audit?.record("config", { what: `approvals: revoked ${key}`, by, file: userFile! });
    await removeFromAnswerLists(userFile!, key);
    await store.addAllowance({ key, given: false, by, time: Date.now() });
    return found;
  }

  #whyNotAlways(row: ApprovalRow, grants: boolean): string | undefined {
    if (this.#options.userFile === undefined) return "there is no file for it";
    return grants ? itemOf(row).notAlways : undefined;
  }

  /** A crash before this is done leaves an answer that holds once. */
  async #keep(row: ApprovalRow, by: string, list: AnswerList): Promise<string | undefined> {
    const { store, audit, userFile } = this.#options;
    const key = `${EXACT_COMMAND}${row.digest}`;
    const time = Date.now();
    try {
      await addToAllowList(userFile!, key, `${row.what} (${by}, ${new Date(time).toISOString()})`, list);
      if (list === "allow") await store.addAllowance({ key, given: true, by, time });
      await audit?.record("config", { what: `approvals.${list}: ${key}`, by, file: userFile! });
      return undefined;
    } catch (error) {
      return `it may not hold for always: ${(error as Error).message}`;
    }
  }

  async #record(row: ApprovalRow): Promise<void> {
    const { id, session, toolCall, what, digest, state, scope, answeredBy, note } = row;
    await this.#options.audit?.record(
      "approval-answered",
      {
        id,
        what,
        digest,
        state,
        by: answeredBy ?? "hermes",
        ...(toolCall !== null && { toolCall }),
        ...(scope !== null && { scope }),
        ...(note !== null && { note }),
      },
      { session },
    );
  }
}

function tooLate(row: ApprovalRow): Answered {
  const { state, answeredBy, note } = row;
  const told =
    state === "expired"
      ? "it is over: no approver answered in time"
      : state === "withdrawn"
        ? `it is over: ${note ?? "the question was withdrawn"}`
        : `it is ${state} already: ${answeredBy} was first`;
  return { mine: false, item: itemOf(row), told };
}

/** Whoever may write there may do anything to the machine: each write is looked at. */
const ONLY_ONCE: ReadonlySet<string> = new Set(["sensitive-write", "write-system"]);

function whyOnlyOnce(row: ApprovalRow): string | undefined {
  const found = itemOf(row).findings?.find(({ rule }) => ONLY_ONCE.has(rule));
  return found && "a write to the system is approved each time";
}
