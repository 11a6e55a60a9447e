import { HermesError } from "../../../nouns/errors.js";
import type { Backend, RunEvents, Running, RunOrder } from "../backend.js";
import type { RemoteLink } from "./link.js";
import { NearEnd } from "./near-end.js";

/** A backend whose runs are on the far side of a link. Such backends differ only in the link. */
export abstract class RemoteBackend implements Backend {
  abstract readonly name: "oci" | "ssh";
  readonly #runs = new Set<NearEnd>();
  #closed = false;

  protected abstract connect(order: RunOrder): RemoteLink | Promise<RemoteLink>;

  async start(order: RunOrder, events: RunEvents): Promise<Running> {
    const link = await this.connect(order);
    const run = new NearEnd(link, events);
    this.#runs.add(run);
    run.result.catch(() => {}).finally(() => this.#runs.delete(run));
    if (this.#closed) {
      await run.kill();
      throw new HermesError("BACKEND", { where: link.where, message: "the backend is closed" });
    }
    await run.started;
    return run;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#runs].map((run) => run.kill()));
  }
}
