import { homedir } from "node:os";
import { newSession } from "../../agents/tools/session.js";
import { loadConfig, type Places } from "../../intent/guard/config/load.js";
import { redact } from "../../intent/guard/credentials/secrets.js";
import { escapeControl } from "../../nouns/text.js";
import type { Answer, Reply } from "../../people/approval/answer.js";
import { GRACE_MS } from "../../people/approval/limits.js";
import { openQueue } from "../../people/approval/open.js";
import type { Question } from "../../people/approval/question.js";
import { askThroughQueue, type QuestionHandlers } from "../../people/approval/queue-questions.js";
import { Audit } from "../../record/audit/audit.js";
import { openStore } from "../../record/store/open.js";
import type { Store } from "../../record/store/store.js";
import { say } from "../views/output.js";
import type { AskPlan } from "./asker.js";
import { SessionPause } from "./pause-session.js";
import { TerminalApprover, waitingText } from "./terminal-approver.js";

/** How long the end of a run waits until its questions are withdrawn in the store. */
const CLOSE_MS = 2000;

/** The questions of one run, in the queue: approvers are its terminal, `hermes approvals`, the console and the webhook. */
export class RunApprovals {
  readonly #plan: AskPlan;
  readonly #places: Places;
  readonly #store: Store;
  readonly #audit: Audit;
  readonly #session: string;
  readonly #terminal: TerminalApprover | undefined;
  readonly #handlers: QuestionHandlers;
  /** Questions without an answer, each with what ends its wait. */
  readonly #open = new Map<number, () => void>();

  static async open(plan: AskPlan): Promise<RunApprovals> {
    const store = await openStore();
    try {
      const audit = Audit.open(store);
      const session = await newSession(store, audit, plan.workspace, plan.agent);
      return new RunApprovals(plan, store, audit, session);
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  private constructor(plan: AskPlan, store: Store, audit: Audit, session: string) {
    this.#plan = plan;
    this.#places = { workspace: plan.workspace, home: homedir(), env: process.env };
    this.#store = store;
    this.#audit = audit;
    this.#session = session;
    if (plan.where === "terminal") this.#terminal = new TerminalApprover(new SessionPause(plan.attached));
    const queue = openQueue({
      store,
      audit,
      places: this.#places,
      approvers: this.#terminal ? [this.#terminal] : [],
      problem: (text) => say(`hermes: ${text}\n`),
    });
    this.#handlers = askThroughQueue(queue, {
      session,
      ...(plan.patience !== undefined && { patience: plan.patience }),
      ...(!this.#terminal && {
        asked: (id, { what }) =>
          say(`hermes: ${escapeControl(redact(what).text)}\nhermes: ${waitingText(id)}\n`),
      }),
    });
  }

  question(question: Question, answer: (answer: Answer | Reply) => void): void {
    const { id } = question;
    const stuck = setTimeout(() => {
      settle({ answer: "no", why: "approval request failed: the store of approvals does not answer" });
      this.#handlers.withdrawn(id, "the store did not answer in time");
    }, this.#limit() + GRACE_MS);
    const settle = (reply: Answer | Reply) => {
      if (!this.#open.delete(id)) return;
      clearTimeout(stuck);
      answer(reply);
      if (this.#open.size === 0) this.#idle();
    };
    this.#open.set(id, () => this.#handlers.withdrawn(id, "the run has ended"));
    this.#handlers.question(question, settle);
  }

  withdrawn(id: number, why: string): void {
    this.#handlers.withdrawn(id, why);
  }

  interrupt(): void {
    this.#terminal?.interrupt();
  }

  async close(): Promise<void> {
    for (const end of this.#open.values()) end();
    if (this.#open.size > 0)
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
        setTimeout(resolve, CLOSE_MS);
      });
    this.#terminal?.close();
    await this.#store.endSession(this.#session, Date.now());
    await this.#audit.record("session", { what: "closed" }, { session: this.#session });
    this.#audit.close();
    await this.#store.close();
  }

  #idle: () => void = () => {};

  /** Milliseconds. What is wrong with hermes.yaml, the queue says. */
  #limit(): number {
    const { patience = Number.POSITIVE_INFINITY } = this.#plan;
    try {
      return Math.min(patience, loadConfig(this.#places).config.approvals.timeout * 1000);
    } catch {
      return 0;
    }
  }
}
