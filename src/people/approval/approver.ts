import type { Answered, GivenAnswer } from "./answer-service.js";
import type { ApprovalItem } from "./approval-item.js";

/**
 * Where a person is asked: a terminal, a webhook, the client of an agent. Every approver is asked about every item, and the
 * first answer wins. An approver that fails or is silent does not delay the others.
 */
export interface Approver {
  readonly name: string;
  /** `answer` may be called at any time, also too late: then it says who was first. */
  ask(item: ApprovalItem, answer: (given: GivenAnswer) => Promise<Answered>): void;
  /** It needs no answer any more. Called for every item, also for those that this approver answered itself. */
  withdraw(id: string, why: string): void;
}
