import type { Approver } from "../approval/approver.js";
import type { Answered, GivenAnswer } from "../approval/desk.js";
import type { ApprovalItem } from "../approval/item.js";

/** What somebody must answer, as the client can ask its user. */
export interface OpenQuestion {
  readonly item: ApprovalItem;
  /** Aborted when it needs no answer any more: whoever is faster has answered. */
  readonly over: AbortSignal;
  answer(given: GivenAnswer): Promise<Answered>;
}

/** Keeps what is asked, for the calls that wait for it. It asks nobody by itself: that needs a request of the client. */
export class Questions implements Approver {
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
