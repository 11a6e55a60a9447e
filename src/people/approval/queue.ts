import { randomBytes } from "node:crypto";
import type { ApprovalsSection } from "../../intent/guard/config/approvals.js";
import { redact } from "../../intent/guard/credentials/secrets.js";
import { escapeControl } from "../../nouns/text.js";
import type { ApprovalRow, NewApproval } from "../../record/store/store.js";
import {
  type Answered,
  AnswerService,
  type AnswerServiceOptions,
  type GivenAnswer,
} from "./answer-service.js";
import { approvalOf, itemOf, whyTooLong } from "./approval-item.js";
import type { ApprovalOutcome, ApprovalRequest, Approvals, RequestOptions } from "./approvals.js";
import type { Approver } from "./approver.js";
import { partsApproved } from "./command-parts.js";
import { MAX_OPEN, MAX_PER_MINUTE, MINUTE } from "./limits.js";
import { grantedOutcome, outcomeOf, refusedOutcome, withdrawnOutcome } from "./outcome.js";
import { presetAnswer } from "./preset-answer.js";
import { type AnswerWait, waitForAnswer } from "./wait-for-answer.js";
import { isWaitedForElsewhere } from "./waiter.js";

export interface QueueOptions extends AnswerServiceOptions {
  /** `approvals` of hermes.yaml, read for every request: an answer for always counts at once, and so does its end. */
  readonly config: () => ApprovalsSection;
  readonly workspace: string;
  readonly approvers?: readonly Approver[];
  /** Tells the operator. */
  readonly problem?: (text: string) => void;
}

/** A grant whose asker had ended serves the next equal request within this time. */
const LATE_MS = 60 * MINUTE;

/**
 * One queue for every question. An answer in advance decides; else a row waits in the store for the first answer, given in
 * this process or in another. Writes are durable before they return: the row outlives this process.
 */
export class Queue implements Approvals {
  readonly #options: QueueOptions;
  readonly #answers: AnswerService;
  /** Rows that are waited for here, and by how many. */
  readonly #waiting = new Map<string, number>();
  /** Finding a row and parking one happen one after the other, so that equal requests meet. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#answers = new AnswerService(options);
  }

  async request(request: ApprovalRequest, options: RequestOptions = {}): Promise<ApprovalOutcome> {
    try {
      const section = this.#options.config();
      return (await this.#inAdvance(request, section)) ?? (await this.#ask(request, section, options));
    } catch (error) {
      const note = `approval request failed: ${(error as Error).message}`;
      this.#options.problem?.(`${shown(request)}: ${note}`);
      return refusedOutcome("hermes", note);
    }
  }

  answer(id: string, given: GivenAnswer): Promise<Answered> {
    return this.#answers.answer(id, given);
  }

  /** Rules, the allow-list, what this session was granted before, and break-glass. */
  async #inAdvance(
    request: ApprovalRequest,
    section: ApprovalsSection,
  ): Promise<ApprovalOutcome | undefined> {
    const { workspace, problem } = this.#options;
    const standing = presetAnswer(request, section, workspace);
    if (standing.action === "deny") return this.#decided(request, refusedOutcome(standing.by, standing.note));
    if (standing.action === "allow") return this.#decided(request, grantedOutcome(standing.by, "always"));
    const before = await this.#sessionAnswer(request.session, request.digest);
    if (before) return this.#decided(request, outcomeOf(before));
    const byParts = await partsApproved(request, async (part) => {
      if (presetAnswer(part, section, workspace).action === "allow") return true;
      return (await this.#sessionAnswer(request.session, part.digest))?.state === "granted";
    });
    if (byParts) return this.#decided(request, grantedOutcome("parts", "session"));
    if (section.mode !== "off") return undefined;
    problem?.(`APPROVALS ARE OFF (approvals.mode): approved without asking: ${shown(request)}`);
    return this.#decided(request, grantedOutcome("mode:off", "once"));
  }

  /** The answer that an approver gave for this session. */
  async #sessionAnswer(session: string, digest: string): Promise<ApprovalRow | undefined> {
    const rows = await this.#options.store.approvals({ state: ["granted", "refused"], session, digest });
    return rows.findLast(({ scope }) => scope === "session");
  }

  async #ask(
    request: ApprovalRequest,
    section: ApprovalsSection,
    { signal, parked, patience: given = Number.POSITIVE_INFINITY }: RequestOptions,
  ): Promise<ApprovalOutcome> {
    const patience = Math.min(given, section.timeout * 1000);
    const deadline = Date.now() + patience;
    for (;;) {
      if (signal?.aborted) return withdrawnOutcome(signal);
      const found = await this.#inTurn(() => this.#findOrPark(request, patience));
      if ("granted" in found) return found;
      parked?.(found.row.id);
      const outcome = await this.#await(found, request, { deadline, section, signal });
      const tooSoon = outcome?.state === "expired" && Date.now() < deadline; // it was asked by another, before
      if (outcome && !tooSoon) return outcome;
    }
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(act);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** A grant that is still unused, a question that is open already, or a new one. */
  async #findOrPark(request: ApprovalRequest, patience: number): Promise<ApprovalOutcome | Parked> {
    const { store } = this.#options;
    await this.#answers.sweep();
    const now = Date.now();
    const late = await this.#lateGrant(request, now);
    if (late) return late;
    const [open] = await this.#openRows(request);
    if (open) {
      if (request.toolCall) await store.changeToolCall(request.toolCall, ["PENDING"], { status: "BLOCKED" });
      return { row: open, mine: false };
    }
    const flood = await this.#flood(request, now);
    const why = flood ?? whyTooLong(request);
    if (why) return this.#decided(request, refusedOutcome("hermes", why));
    const approval = approvalOf(request, randomBytes(8).toString("hex"), now, now + patience);
    await this.#recordAsked(approval);
    await store.park(approval);
    // Others may have asked the same at the same moment: all agree that the oldest question stays.
    const [first, ...doubles] = await this.#openRows(request);
    for (const { id } of doubles) await this.#answers.withdraw(id, "asked already");
    const row = first ?? (await store.approval(approval.id))!;
    return { row, mine: row.id === approval.id };
  }

  /** Sessions share questions about the same tool call; a question of a running program is its own. */
  async #openRows({ kind, digest, session }: ApprovalRequest): Promise<readonly ApprovalRow[]> {
    const own = kind === "DEED" && { session };
    const rows = await this.#options.store.approvals({ state: ["pending"], digest, ...own });
    return rows.filter((row) => row.kind === kind);
  }

  /** Granted after the asker had crashed or given up. */
  async #lateGrant({ kind, digest }: ApprovalRequest, now: number): Promise<ApprovalOutcome | undefined> {
    const { store } = this.#options;
    if (kind === "DEED") return undefined; // the program that waited is gone
    for (const row of await store.approvals({ state: ["granted"], digest })) {
      const unused = row.kind === kind && row.spent === null && row.scope !== "session";
      if (!unused || (row.answered ?? 0) < now - LATE_MS) continue;
      if (this.#waiting.has(row.id) || (await isWaitedForElsewhere(row, store))) continue;
      if (await store.spend(row.id, now)) return outcomeOf(row);
    }
    return undefined;
  }

  async #flood({ session }: ApprovalRequest, now: number): Promise<string | undefined> {
    const { store } = this.#options;
    const open = await store.approvals({ session, state: ["pending"] });
    const lately = await store.approvals({ session, since: now - MINUTE });
    if (open.length >= MAX_OPEN)
      return `Too many questions wait for an answer (${MAX_OPEN}): wait for these.`;
    if (lately.length >= MAX_PER_MINUTE)
      return `Too many questions in a minute (${MAX_PER_MINUTE}): wait, and ask for fewer things.`;
    return undefined;
  }

  async #await(
    { row, mine }: Parked,
    request: ApprovalRequest,
    how: {
      readonly deadline: number;
      readonly section: ApprovalsSection;
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<ApprovalOutcome | undefined> {
    const { store } = this.#options;
    const { deadline, section, signal } = how;
    const failing = new AbortController();
    this.#enter(row, failing);
    try {
      const answered = await waitForAnswer(store, row, {
        deadline: mine ? row.expires : deadline,
        sweep: () => this.#answers.sweep(),
        signal: signal ? AbortSignal.any([signal, failing.signal]) : failing.signal,
        ...this.#automatic(row, request, section),
        abandoned: async () => {
          const others =
            this.#waiting.get(row.id)! > 1 || (!mine && (await isWaitedForElsewhere(row, store)));
          if (!others) await this.#answers.withdraw(row.id, "the asker does not wait any more");
        },
      });
      if (failing.signal.aborted && !signal?.aborted) throw failing.signal.reason;
      return await this.#conclude(answered, request, signal);
    } finally {
      await this.#leave(row.id);
      await this.#goOn(request);
    }
  }

  /** The tool call of a running program was running before it was parked. */
  async #goOn({ kind, toolCall }: ApprovalRequest): Promise<void> {
    const { store } = this.#options;
    if (kind !== "DEED" || toolCall === undefined) return;
    const open = await store.approvals({ state: ["pending"], toolCall });
    if (open.length === 0) await store.changeToolCall(toolCall, ["BLOCKED"], { status: "RUNNING" });
  }

  /** Mode auto: after the delay, time answers. */
  #automatic(
    { id }: ApprovalRow,
    request: ApprovalRequest,
    section: ApprovalsSection,
  ): Pick<AnswerWait, "after" | "answer"> {
    const standing = presetAnswer(request, section, this.#options.workspace);
    if (section.mode !== "auto" || standing.action !== "ask" || !standing.automatic) return {};
    return {
      after: section.delay * 1000,
      answer: () => this.#answers.answer(id, { answer: "once", by: "auto" }),
    };
  }

  /** An answer of an approver here that cannot be stored ends the wait: the request fails, and is refused. */
  #enter(row: ApprovalRow, failing: AbortController): void {
    const before = this.#waiting.get(row.id) ?? 0;
    this.#waiting.set(row.id, before + 1);
    if (before > 0) return;
    const answer = async (given: GivenAnswer) => {
      try {
        return await this.#answers.answer(row.id, given);
      } catch (error) {
        failing.abort(error);
        throw error;
      }
    };
    this.#tell((approver) => approver.ask(itemOf(row), answer));
  }

  async #leave(id: string): Promise<void> {
    const left = this.#waiting.get(id)! - 1;
    if (left > 0) return void this.#waiting.set(id, left);
    this.#waiting.delete(id);
    const row = await this.#options.store.approval(id).catch(() => undefined);
    const why = row?.answeredBy ? `${row.state} by ${row.answeredBy}` : (row?.state ?? "gone");
    this.#tell((approver) => approver.withdraw(id, why));
  }

  #tell(act: (approver: Approver) => void): void {
    for (const approver of this.#options.approvers ?? [])
      try {
        act(approver);
      } catch (error) {
        this.#options.problem?.(`approver ${approver.name}: ${(error as Error).message}`);
      }
  }

  /** Undefined: this answer is not for this request, so it is asked anew. */
  async #conclude(
    row: ApprovalRow,
    request: ApprovalRequest,
    signal: AbortSignal | undefined,
  ): Promise<ApprovalOutcome | undefined> {
    if (signal?.aborted) return withdrawnOutcome(signal);
    if (row.state === "withdrawn") return undefined;
    if (row.state !== "granted") return outcomeOf(row);
    const spent = await this.#options.store.spend(row.id, Date.now());
    const lasts = row.scope === "always" || (row.scope === "session" && row.session === request.session);
    if (lasts) return outcomeOf(row);
    return spent ? { ...outcomeOf(row), scope: "once" } : undefined;
  }

  async #recordAsked({
    id,
    kind,
    session,
    toolCall,
    what,
    digest,
    keys,
    expires,
  }: NewApproval): Promise<void> {
    const asked = { id, kind, what, digest, expires, keys: JSON.parse(keys) as string[] };
    const body = { ...asked, ...(toolCall !== null && { toolCall }) };
    await this.#options.audit?.record("approval-asked", body, { session });
  }

  /** Answered without asking: only the audit knows of it. */
  async #decided(request: ApprovalRequest, outcome: ApprovalOutcome): Promise<ApprovalOutcome> {
    const { digest, session, toolCall } = request;
    const { what } = approvalOf(request, "", 0, 0);
    const { approval: id, state, by, scope, note } = outcome;
    await this.#options.audit?.record(
      "approval-answered",
      {
        what,
        digest,
        state,
        by,
        ...(id !== undefined && { id }),
        ...(toolCall !== undefined && { toolCall }),
        ...(scope && { scope }),
        ...(note !== undefined && { note }),
      },
      { session },
    );
    return outcome;
  }
}

/** A question that is asked, and whether this request asked it first. */
interface Parked {
  readonly row: ApprovalRow;
  readonly mine: boolean;
}

/** As the operator may read it: without secrets, and with control characters escaped. */
function shown({ what }: ApprovalRequest): string {
  return escapeControl(redact(what).text);
}
