import { HermesError } from "../../errors.js";
import type { Backend, RunEvents, Running, RunOrder } from "../backend.js";
import type { Link } from "./link.js";
import { NearEnd } from "./near.js";

/** A backend whose runs are on the other side of a link; what the link is, is all that they differ in. */
export abstract class RemoteBackend implements Backend {
  abstract readonly name: "oci" | "ssh";
  readonly #runs = new Set<NearEnd>();
  #closed = false;

  protected abstract connect(order: RunOrder): Link | Promise<Link>;

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
