import type { Client, QueryResultRow } from "pg";
import { parsePostgresUrl } from "../record/store/postgres-url.js";

/** The server's notifications: a policy was released; a host's question was answered (with the host's name). */
export const POLICIES_CHANNEL = "hermes_policies";
export const ANSWERS_CHANNEL = "hermes_answers";

export interface HostConnectionOptions {
  readonly url: string;
  readonly notice: (channel: string, payload: string) => void;
  readonly changed?: (up: boolean, why: string) => void;
  /** Milliseconds before the first reconnect; each further attempt waits up to twice as long. */
  readonly firstPause?: number;
  readonly longestPause?: number;
}

const INT8 = 20;
/** After this time a query has failed: the connection broke silently. */
const ANSWER_MS = 30_000;

/**
 * The single connection of a host, for queries and notifications. When it breaks, open queries fail and it reconnects with
 * exponential backoff and jitter, so that hosts do not all reconnect at once.
 */
export class HostConnection {
  readonly name: string;
  readonly #options: HostConnectionOptions;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pause: number;
  #closed = false;
  #downSince: number | undefined;

  constructor(options: HostConnectionOptions) {
    this.#options = options;
    this.name = parsePostgresUrl(options.url).name;
    this.#pause = options.firstPause ?? 250;
    void this.#connect();
  }

  get up(): boolean {
    return this.#client !== undefined;
  }

  /** Milliseconds since the connection went down; 0 while it is up and before the first attempt has failed. */
  get downFor(): number {
    return this.#downSince === undefined ? 0 : performance.now() - this.#downSince;
  }

  /** Rejects when the connection is down or breaks meanwhile. The query may then have been executed. */
  async ask<R extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    const client = this.#client;
    if (!client) throw new Error("the server is unreachable");
    try {
      return (await client.query<R>(text, [...values])).rows;
    } catch (error) {
      // The server's own errors have an SQLSTATE of five characters; other errors are the connection's.
      if (!/^(?!08|57P)[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? "")) this.#lost(client, error);
      throw error;
    }
  }

  async #connect(): Promise<void> {
    const { config } = parsePostgresUrl(this.#options.url);
    const { default: pg } = await import("pg");
    const parser = (type: number, format?: "text" | "binary") =>
      type === INT8 ? Number : pg.types.getTypeParser(type, format as "text");
    const client = new pg.Client({
      ...config,
      types: { getTypeParser: parser as never },
      options: "-c search_path=hermes -c idle_in_transaction_session_timeout=30s",
      application_name: "hermes agent",
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
      query_timeout: ANSWER_MS,
    });
    client.on("error", (error) => this.#lost(client, error));
    client.on("end", () => this.#lost(client, new Error("the server closed the connection")));
    client.on("notification", ({ channel, payload }) => this.#options.notice(channel, payload ?? ""));
    try {
      await client.connect();
      // Acknowledged commits are durable, however the server is configured.
      await client.query(
        `SET synchronous_commit = on; LISTEN ${POLICIES_CHANNEL}; LISTEN ${ANSWERS_CHANNEL}`,
      );
    } catch (error) {
      client.end().catch(() => {});
      return this.#again(error);
    }
    if (this.#closed) return void client.end().catch(() => {});
    this.#client = client;
    this.#downSince = undefined;
    this.#pause = this.#options.firstPause ?? 250;
    this.#options.changed?.(true, "");
  }

  #lost(client: Client, error: unknown): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    client.end().catch(() => {});
    this.#again(error);
  }

  #again(error: unknown): void {
    if (this.#closed) return;
    this.#downSince ??= performance.now();
    this.#options.changed?.(false, (error as Error).message);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#connect(), this.#pause * (0.5 + Math.random() / 2));
    this.#pause = Math.min(this.#pause * 2, this.#options.longestPause ?? 15_000);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }
}
