import type { Client } from "pg";

const CHANNEL = "hermes_approvals";
/** The server notifies at once. Where a proxy drops notifications, we poll this often. */
const LOOK = 2_000;
const COME_AGAIN = 500;

/** Hears of changes to approvals from every host, over a connection of its own. */
export class Notices {
  static readonly SEND = `SELECT pg_notify('${CHANNEL}', '')`;

  readonly #make: () => Client;
  readonly #listeners = new Set<() => void>();
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #again: NodeJS.Timeout | undefined;

  constructor(make: () => Client) {
    this.#make = make;
  }

  add(changed: () => void): () => void {
    const listener = () => changed();
    this.#listeners.add(listener);
    if (this.#timer === undefined) {
      this.#timer = setInterval(() => this.tell(), LOOK);
      void this.#listen();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) void this.close();
    };
  }

  tell(): void {
    for (const listener of this.#listeners) listener();
  }

  async #listen(): Promise<void> {
    const client = this.#make();
    this.#client = client;
    let lost = false;
    const onLost = () => {
      if (lost || this.#client !== client) return;
      lost = true;
      this.#client = undefined;
      client.end().catch(() => {});
      this.#again = setTimeout(() => void this.#listen(), COME_AGAIN);
    };
    client.on("error", onLost);
    client.on("end", onLost);
    client.on("notification", () => this.tell());
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      // Events may have been missed while no connection listened.
      this.tell();
    } catch {
      onLost();
    }
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    clearInterval(this.#timer);
    clearTimeout(this.#again);
    this.#timer = undefined;
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }
}
