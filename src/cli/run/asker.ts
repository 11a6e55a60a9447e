import type { Answer, Reply } from "../../people/approval/answer.js";
import type { Question } from "../../people/approval/question.js";
import type { RunApprovals } from "./run-approvals.js";

/** Where the questions of a run are asked. Plain data: it crosses to the control thread. */
export interface AskPlan {
  /** On this terminal and in the queue, or in the queue alone. */
  readonly where: "terminal" | "queue";
  /** Milliseconds; `approvals.timeout` of hermes.yaml bounds it. */
  readonly patience?: number;
  /** The command that asks, as approvers see it: `hermes run`. */
  readonly agent: string;
  readonly workspace: string;
  /** The process that HERMES attached to. */
  readonly attached?: number;
}

/** The store may take so long to open; then the question is refused. */
const OPEN_MS = 30_000;

/** Asks the questions of a run. The queue and its store are loaded with the first question: most runs have none. */
export class Asker {
  readonly #plan: AskPlan;
  #opened: Promise<RunApprovals> | undefined;

  constructor(plan: AskPlan) {
    this.#plan = plan;
  }

  question(question: Question, answer: (answer: Reply | Answer) => void): void {
    this.#open().then(
      (approvals) => approvals.question(question, answer),
      (error: Error) => {
        this.#opened = undefined; // the next question tries again
        answer({ answer: "no", why: `approval request failed: ${error.message}` });
      },
    );
  }

  withdrawn(id: number, why: string): void {
    this.#ifOpen((approvals) => approvals.withdrawn(id, why));
  }

  /** The user, or another process, wants the program to end. */
  interrupt(): void {
    this.#ifOpen((approvals) => approvals.interrupt());
  }

  /** Withdraws open questions and ends the session in the store. */
  async close(): Promise<void> {
    await this.#opened?.then((approvals) => approvals.close()).catch(() => {});
  }

  #ifOpen(act: (approvals: RunApprovals) => void): void {
    this.#opened?.then(act, () => {});
  }

  #open(): Promise<RunApprovals> {
    this.#opened ??= within(
      OPEN_MS,
      import("./run-approvals.js").then(({ RunApprovals }) => RunApprovals.open(this.#plan)),
    );
    return this.#opened;
  }
}

function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error("the store of approvals does not answer (see HERMES_STORE)"));
    const timer = setTimeout(late, milliseconds);
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
