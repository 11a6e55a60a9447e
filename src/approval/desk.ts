import type { Audit } from "../audit/audit.js";
import { HermesError } from "../errors.js";
import { redact } from "../guard/credentials/secrets.js";
import type { ApprovalAnswer, ApprovalRow, Store } from "../store/store.js";
import { addToAllowList } from "./allow-list.js";
import { type ApprovalItem, itemOf } from "./item.js";
import type { Answer } from "./question.js";
import { EXACT } from "./standing.js";

export interface GivenAnswer {
  readonly answer: Answer;
  /** `terminal:root`, `cli:root`, `webhook:pager` */
  readonly by: string;
  /** A word to the agent. */
  readonly note?: string;
}

export interface Answered {
  /** This answer made it what it is; else somebody was faster, or its time was over. */
  readonly mine: boolean;
  readonly item: ApprovalItem;
  /** What whoever answered should know: who was faster, why it does not hold for always. */
  readonly told?: string;
}

export interface DeskOptions {
  readonly store: Store;
  /** The user's hermes.yaml, where answers for always are kept; without it there are none. */
  readonly userFile?: string;
  readonly audit?: Pick<Audit, "record">;
}

const NOTE_AT_MOST = 2000;

/** Takes answers, wherever they come from, whether or not anybody waits for them in this process. */
export class Desk {
  readonly #options: DeskOptions;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  async answer(id: string, { answer, by, note }: GivenAnswer): Promise<Answered> {
    const { store } = this.#options;
    await this.sweep();
    const before = await store.approval(id);
    if (!before) throw new HermesError("APPROVAL", { id, message: "there is no such approval" });
    const barred = answer === "always" ? this.#whyNotAlways(before) : undefined;
    const scope = answer === "no" ? undefined : barred === undefined ? answer : "once";
    if (before.state !== "pending") return tooLate(before);
    const given: ApprovalAnswer = {
      state: scope === undefined ? "refused" : "granted",
      by,
      time: Date.now(),
      ...(scope && { scope }),
      ...(note && { note: redact(note).text.slice(0, NOTE_AT_MOST) }),
    };
    // Recorded before it counts: nothing happens on an answer that the audit does not know.
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
    const told = barred === undefined ? undefined : `not for always: ${barred}; once, then`;
    const trouble = scope === "always" ? await this.#keep(row, by) : undefined;
    return { mine, item, ...((told ?? trouble) !== undefined && { told: (told ?? trouble)! }) };
  }

  /** Nobody needs an answer any more. */
  async withdraw(id: string, note: string): Promise<void> {
    const { store } = this.#options;
    const time = Date.now();
    const { mine, row } = await store.answer(id, { state: "withdrawn", by: "hermes", note, time });
    if (mine) await this.#record(row);
  }

  /** What nobody answered in time is refused. */
  async sweep(): Promise<void> {
    for (const row of await this.#options.store.expire(Date.now())) await this.#record(row);
  }

  #whyNotAlways(row: ApprovalRow): string | undefined {
    if (this.#options.userFile === undefined) return "there is no file for it";
    return itemOf(row).notAlways;
  }

  /** A crash before this is done leaves an answer that holds once. */
  async #keep(row: ApprovalRow, by: string): Promise<string | undefined> {
    const { store, audit, userFile } = this.#options;
    const key = `${EXACT}${row.digest}`;
    const time = Date.now();
    try {
      await addToAllowList(userFile!, key, `${row.what} (${by}, ${new Date(time).toISOString()})`);
      await store.addAllowance({ key, given: true, by, time });
      await audit?.record("config", { what: `approvals.allow: ${key}`, by, file: userFile! });
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
  const first = row.answeredBy === null ? "" : `: ${row.answeredBy} was first`;
  return { mine: false, item: itemOf(row), told: `it is ${row.state} already${first}` };
}
