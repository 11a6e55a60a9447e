import type { Approver } from "../../approval/approver.js";
import type { Answered, GivenAnswer } from "../../approval/desk.js";
import type { ApprovalItem } from "../../approval/item.js";
import { answerOf, elicitationOf } from "../elicitation.js";
import type { Json, Peer } from "./peer.js";

/** Asks the user of the gateway's client, once there is one that can be asked; the queue is asked as well. */
export class ClientApprover implements Approver {
  readonly name = "mcp";
  readonly #open = new Map<string, AbortController>();
  #client: Peer | undefined;
  #by = "";

  /** The client has said that it can ask its user. */
  attach(client: Peer, name: string): void {
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
      .catch(() => {}); // it stays in the queue
  }

  withdraw(id: string): void {
    this.#open.get(id)?.abort();
    this.#open.delete(id);
  }
}
