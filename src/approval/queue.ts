import { randomBytes } from "node:crypto";
import type { ApprovalsSection } from "../guard/config/approvals.js";
import { redact } from "../guard/credentials/secrets.js";
import type { ApprovalRow, NewApproval } from "../store/store.js";
import { harmless } from "../text.js";
import type { ApprovalOutcome, ApprovalRequest, Approvals, RequestOptions } from "./approvals.js";
import type { Approver } from "./approver.js";
import { type Answered, Desk, type DeskOptions, type GivenAnswer } from "./desk.js";
import { approvalOf, itemOf, whyTooLong } from "./item.js";
import { MAX_OPEN, MAX_PER_MINUTE, MINUTE } from "./limits.js";
import { granted, outcomeOf, refused, withdrawn } from "./outcome.js";
import { isWaitedForElsewhere } from "./owner.js";
import { partsApproved } from "./parts.js";
import { standingAnswer } from "./standing.js";
import { type Waiting, waitForAnswer } from "./wait.js";

export interface QueueOptions extends DeskOptions {
  /** `approvals` of hermes.yaml, read for every request: what was answered for always a moment ago counts. */
  readonly config: () => ApprovalsSection;
  readonly workspace: string;
  readonly approvers?: readonly Approver[];
  /** What an operator must hear of. */
  readonly problem?: (text: string) => void;
}

/** A grant that nobody waited for is there for whoever asks the same within this time. */
const LATE_MS = 60 * MINUTE;

/**
 * Whatever needs an answer: what is decided in advance, else a row that waits in the store for whoever answers first, in
 * this process or another. The row stays there when this process ends.
 */
export class Queue implements Approvals {
  readonly #options: QueueOptions;
  readonly #desk: Desk;
  /** Rows that are waited for here, and by how many. */
  readonly #waiting = new Map<string, number>();
  /** Finding a row and parking one happen one after the other, so that equal requests meet. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#desk = new Desk(options);
  }

  async request(request: ApprovalRequest, options: RequestOptions = {}): Promise<ApprovalOutcome> {
    try {
      const section = this.#options.config();
      return (await this.#inAdvance(request, section)) ?? (await this.#ask(request, section, options));
    } catch (error) {
      const note = `It could not be asked about: ${(error as Error).message}`;
      this.#options.problem?.(`approval of ${shown(request)}: ${note}`);
      return refused("hermes", note);
    }
  }

  answer(id: string, given: GivenAnswer): Promise<Answered> {
    return this.#desk.answer(id, given);
  }

  /** Rules, the allow-list, what this session was granted before, and break-glass. */
  async #inAdvance(
    request: ApprovalRequest,
    section: ApprovalsSection,
  ): Promise<ApprovalOutcome | undefined> {
    const { workspace, problem } = this.#options;
    const standing = standingAnswer(request, section, workspace);
    if (standing.action === "deny") return this.#settled(request, refused(standing.by, standing.note));
    if (standing.action === "allow") return this.#settled(request, granted(standing.by, "always"));
    const before = await this.#sessionGrant(request.session, request.digest);
    if (before) return this.#settled(request, outcomeOf(before));
    const byParts = await partsApproved(request, async (part) => {
      if (standingAnswer(part, section, workspace).action === "allow") return true;
      return (await this.#sessionGrant(request.session, part.digest)) !== undefined;
    });
    if (byParts) return this.#settled(request, granted("parts", "session"));
    if (section.mode !== "off") return undefined;
    problem?.(`APPROVALS ARE OFF (approvals.mode): nobody was asked about: ${shown(request)}`);
    return this.#settled(request, granted("mode:off", "once"));
  }

  async #sessionGrant(session: string, digest: string): Promise<ApprovalRow | undefined> {
    const rows = await this.#options.store.approvals({ state: ["granted"], session, digest });
    return rows.find(({ scope }) => scope === "session");
  }

  async #ask(
    request: ApprovalRequest,
    section: ApprovalsSection,
    { signal, parked, patience = section.timeout * 1000 }: RequestOptions,
  ): Promise<ApprovalOutcome> {
    const deadline = Date.now() + patience;
    for (;;) {
      if (signal?.aborted) return withdrawn(signal);
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

  /** An answer that waits for this, a question that is asked already, or a new one. */
  async #findOrPark(request: ApprovalRequest, patience: number): Promise<ApprovalOutcome | Parked> {
    const { store } = this.#options;
    await this.#desk.sweep();
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
    if (why) return this.#settled(request, refused("hermes", why));
    const approval = approvalOf(request, randomBytes(8).toString("hex"), now, now + patience);
    await this.#recordAsked(approval);
    await store.park(approval);
    // Others may have asked the same at the same moment: all agree that the oldest question stays.
    const [first, ...doubles] = await this.#openRows(request);
    for (const { id } of doubles) await this.#desk.withdraw(id, "asked already");
    const row = first ?? (await store.approval(approval.id))!;
    return { row, mine: row.id === approval.id };
  }

  /** Sessions share questions about the same tool call; a deed is of the program that does it. */
  async #openRows({ kind, digest, session }: ApprovalRequest): Promise<readonly ApprovalRow[]> {
    const own = kind === "DEED" && { session };
    const rows = await this.#options.store.approvals({ state: ["pending"], digest, ...own });
    return rows.filter((row) => row.kind === kind);
  }

  /** Given while nobody waited: after a crash, or after the agent had given up. */
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
    this.#enter(row);
    try {
      const answered = await waitForAnswer(store, row, {
        deadline: mine ? row.expires : deadline,
        sweep: () => this.#desk.sweep(),
        ...(signal && { signal }),
        ...this.#automatic(row, request, section),
        abandoned: async () => {
          const others =
            this.#waiting.get(row.id)! > 1 || (!mine && (await isWaitedForElsewhere(row, store)));
          if (!others) await this.#desk.withdraw(row.id, "nobody waits for it any more");
        },
      });
      return await this.#conclude(answered, request, signal);
    } finally {
      await this.#leave(row.id);
      await this.#goOn(request);
    }
  }

  /** A deed's tool call was running before it was parked. */
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
  ): Pick<Waiting, "after" | "answer"> {
    const standing = standingAnswer(request, section, this.#options.workspace);
    if (section.mode !== "auto" || standing.action !== "ask" || !standing.automatic) return {};
    return {
      after: section.delay * 1000,
      answer: () => this.#desk.answer(id, { answer: "once", by: "auto" }),
    };
  }

  #enter(row: ApprovalRow): void {
    const before = this.#waiting.get(row.id) ?? 0;
    this.#waiting.set(row.id, before + 1);
    if (before > 0) return;
    this.#tell((approver) => approver.ask(itemOf(row), (given) => this.#desk.answer(row.id, given)));
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
    if (signal?.aborted) return withdrawn(signal);
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
  async #settled(request: ApprovalRequest, outcome: ApprovalOutcome): Promise<ApprovalOutcome> {
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

/** For whoever reads what the operator is told. */
function shown({ what }: ApprovalRequest): string {
  return harmless(redact(what).text);
}
