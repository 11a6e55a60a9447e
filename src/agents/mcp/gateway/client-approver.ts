import type { Answered, GivenAnswer } from "../../../people/approval/answer-service.js";
import type { ApprovalItem } from "../../../people/approval/approval-item.js";
import type { Approver } from "../../../people/approval/approver.js";
import { answerOf, elicitationOf } from "../elicitation.js";
import type { Json, RpcPeer } from "./peer.js";

/** Asks the user of the gateway's client, once a client is connected that can ask. The queue is asked too. */
export class ClientApprover implements Approver {
  readonly name = "mcp";
  readonly #open = new Map<string, AbortController>();
  #client: RpcPeer | undefined;
  #by = "";

  /** The client has declared that it can ask its user. */
  attach(client: RpcPeer, name: string): void {
    this.#client = client;
    this.#by = `mcp:${name}`;
  }

  ask(item: ApprovalItem, answer: (given: GivenAnswer) => Promise<Answered>): void {
    const over = new AbortController();
    this.#open.set(item.id, over);
    void this.#client
      ?.request("elicitation/create", elicitationOf(item), over.signal)
      .then((response) => {
        const given = answerOf((response ?? {}) as Json, this.#by);
        return given && answer(given);
      })
      .catch(() => {}); // the question stays in the queue
  }

  withdraw(id: string): void {
    this.#open.get(id)?.abort();
    this.#open.delete(id);
  }
}
