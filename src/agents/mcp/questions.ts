import type { Answered, GivenAnswer } from "../../people/approval/answer-service.js";
import type { ApprovalItem } from "../../people/approval/approval-item.js";
import type { Approver } from "../../people/approval/approver.js";

/** An open question, as the client can ask its user. */
export interface OpenQuestion {
  readonly item: ApprovalItem;
  /** Aborted when it needs no answer any more: another approver was faster. */
  readonly over: AbortSignal;
  answer(given: GivenAnswer): Promise<Answered>;
}

/** Keeps what is asked, for the calls that wait for it. It does not ask by itself: that needs a request of the client. */
export class CallQuestions implements Approver {
  readonly name = "mcp";
  readonly #open = new Map<string, OpenQuestion & { readonly end: AbortController }>();

  ask(item: ApprovalItem, answer: OpenQuestion["answer"]): void {
    const end = new AbortController();
    this.#open.set(item.id, {
      item,
      end,
      over: end.signal,
      answer: (given) => {
        this.withdraw(item.id);
        return answer(given);
      },
    });
  }

  withdraw(id: string): void {
    this.#open.get(id)?.end.abort();
    this.#open.delete(id);
  }

  get(id: string): OpenQuestion | undefined {
    return this.#open.get(id);
  }
}
