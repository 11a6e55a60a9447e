import type { ApprovalRow, Store } from "../../record/store/store.js";
import type { AnswerService } from "../approval/answer-service.js";
import { type ApprovalItem, itemOf } from "../approval/approval-item.js";
import type { Feed, FeedEvent } from "./feed.js";

/** More at once are not shown: the oldest come first. */
const AT_MOST = 500;
const LONGEST = 500;
const PAUSE_MS = 100;
const LOOK_MS = 1000;

/** An approval in the list; the page fetches the rest when an approver selects it. */
interface PendingView
  extends Pick<ApprovalItem, "id" | "kind" | "what" | "session" | "created" | "expires" | "findings"> {
  readonly agent: string;
  readonly workspace: string;
}

/** The questions that wait for an answer, of every process that shares the store. */
export class PendingApprovals {
  readonly #store: Store;
  readonly #answers: AnswerService;
  readonly #feed: Feed;
  readonly #problem: (error: unknown) => void;
  readonly #items = new Map<string, PendingView>();
  readonly #timer: NodeJS.Timeout;
  readonly #stop: () => void;
  #looking: Promise<void> | undefined;
  #again = false;
  #over = false;

  constructor(store: Store, answers: AnswerService, feed: Feed, problem: (error: unknown) => void) {
    this.#store = store;
    this.#answers = answers;
    this.#feed = feed;
    this.#problem = problem;
    this.#stop = store.onApprovals(() => this.look());
    // Questions expire without a notice.
    this.#timer = setInterval(() => this.look(), LOOK_MS);
    this.look();
  }

  get size(): number {
    return this.#items.size;
  }

  snapshot(): FeedEvent {
    return { kind: "pending", data: [...this.#items.values()] };
  }

  /** Soon, and once however often it is called meanwhile. */
  look(): void {
    if (this.#over) return;
    this.#again = true;
    this.#looking ??= this.#loop().finally(() => {
      this.#looking = undefined;
    });
  }

  async close(): Promise<void> {
    this.#over = true;
    clearInterval(this.#timer);
    this.#stop();
    await this.#looking;
  }

  async #loop(): Promise<void> {
    while (this.#again && !this.#over) {
      this.#again = false;
      await this.#compare().catch(this.#problem);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  async #compare(): Promise<void> {
    await this.#answers.sweep();
    const rows = await this.#store.approvals({ state: ["pending"], limit: AT_MOST });
    const open = new Set(rows.map(({ id }) => id));
    for (const id of this.#items.keys()) {
      if (open.has(id)) continue;
      const row = await this.#store.approval(id);
      // Another one that is older came between, or it is answered.
      this.#items.delete(id);
      this.#feed.publish("settled", row ? answeredView(row) : { id });
    }
    for (const row of rows) {
      if (this.#items.has(row.id)) continue;
      const view = await this.#viewOf(row);
      this.#items.set(row.id, view);
      this.#feed.publish("asked", view);
    }
  }

  async #viewOf(row: ApprovalRow): Promise<PendingView> {
    const { id, kind, what, session, created, expires, findings } = itemOf(row);
    const { agent = "", workspace = "" } = (await this.#store.session(session)) ?? {};
    const short = findings.map(({ rule, action, reason }) => ({ rule, action, reason: cut(reason) }));
    return { id, kind, what: cut(what), session, created, expires, findings: short, agent, workspace };
  }
}

function answeredView({ id, what, state, scope, answeredBy, note }: ApprovalRow) {
  return { id, what: cut(what), state, scope, by: answeredBy, note };
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
