import type { Answered, GivenAnswer } from "./desk.js";
import type { ApprovalItem } from "./item.js";

/**
 * Where a person is asked: a terminal, a webhook, later a page or the client of an agent. Every approver is asked about
 * every item; whoever answers first has answered. An approver that fails or is silent keeps nobody else waiting.
 */
export interface Approver {
  readonly name: string;
  /** `answer` may be called at any time, also too late: it tells then who was first. */
  ask(item: ApprovalItem, answer: (given: GivenAnswer) => Promise<Answered>): void;
  /** It needs no answer any more. Told for every item, also those that this approver answered itself. */
  withdraw(id: string, why: string): void;
}
