import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ClientBase, Pool } from "pg";
import { HermesError } from "../../nouns/errors.js";
import type { SqlEngine } from "./engine.js";
import { Notices } from "./postgres-notices.js";
import { parsePostgresUrl } from "./postgres-url.js";
import { type Operation, restored, type SqlRow, storable } from "./sql.js";

const CONNECTIONS = 8;
/** Deadlock, serialization failure: the server gave our transaction up, and it may be tried again. */
const GIVEN_UP = /^40(001|P01)$/;
const TRIES = 10;
const INT8 = 20;
/** A host that vanishes in the middle of a transaction must not hold its locks for ever. */
const OPTIONS = "-c search_path=hermes -c idle_in_transaction_session_timeout=30s -c lock_timeout=60s";

/** One database for many hosts. What is ours lies in the schema `hermes`. */
export class PostgresEngine implements SqlEngine {
  readonly dialect = "postgres";
  readonly name: string;
  readonly beside: string;
  readonly #pool: Pool;
  readonly #notices: Notices;
  readonly #under = new Set<Promise<unknown>>();
  #begin = "BEGIN ISOLATION LEVEL READ COMMITTED";
  #closed = false;

  private constructor(name: string, beside: string, pool: Pool, notices: Notices) {
    this.name = name;
    this.beside = beside;
    this.#pool = pool;
    this.#notices = notices;
  }

  static async open(url: string, folder: string): Promise<PostgresEngine> {
    const { name, config } = parsePostgresUrl(url);
    const { default: pg } = await import("pg");
    const types = { getTypeParser: typeParser(pg.types.getTypeParser as TypeParser) };
    const full = {
      ...{ ...config, types, options: OPTIONS, application_name: "hermes" },
      ...{ keepAlive: true, connectionTimeoutMillis: 30_000 },
    };
    const pool = new pg.Pool({ ...full, max: CONNECTIONS });
    // An idle connection broke. The next caller gets a new one.
    pool.on("error", () => {});
    const engine = new PostgresEngine(
      name,
      join(folder, `postgres-${createHash("sha256").update(name).digest("hex").slice(0, 12)}`),
      pool,
      new Notices(() => new pg.Client(full)),
    );
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    try {
      await engine.#checkDurability();
    } catch (error) {
      await engine.close();
      throw error;
    }
    return engine;
  }

  /** What is acknowledged must be on disk: the server may be set up otherwise. */
  async #checkDurability(): Promise<void> {
    const { rows } = await this.#pool.query(
      "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit')",
    );
    const settings = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
    if (settings.fsync === "off")
      throw new HermesError("STORE", {
        store: this.name,
        message: "the server runs with fsync = off: a crash could lose what it has acknowledged",
      });
    if (settings.synchronous_commit === "off") this.#begin += "; SET LOCAL synchronous_commit = on";
  }

  read<T>(operation: () => Operation<T>): Promise<T> {
    return this.#track(() => this.#with((client) => perform(client, operation())));
  }

  async write<T>(operation: () => Operation<T>, about?: "approvals"): Promise<T> {
    const value = await this.#track(() => this.#transaction(operation, about));
    if (about === "approvals") this.#notices.tell();
    return value;
  }

  async #transaction<T>(operation: () => Operation<T>, about?: "approvals"): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#with(async (client) => {
          await client.query(this.#begin);
          const value = await perform(client, operation());
          if (about === "approvals") await client.query(Notices.SEND);
          await client.query("COMMIT");
          return value;
        });
      } catch (error) {
        if (!GIVEN_UP.test((error as { code?: string }).code ?? "") || tries === TRIES) throw error;
      }
    }
  }

  /** After a failure the connection is closed, and with it the open transaction. */
  async #with<T>(act: (client: ClientBase) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    // Without a listener, a connection that breaks between two queries would end the process.
    const ignore = () => {};
    client.on("error", ignore);
    let failed = true;
    try {
      const value = await act(client);
      failed = false;
      return value;
    } finally {
      client.off("error", ignore);
      client.release(failed);
    }
  }

  async #track<T>(act: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new HermesError("STORE", { store: this.name, message: "it is closed" });
    const promise = act();
    this.#under.add(promise);
    try {
      return await promise;
    } finally {
      this.#under.delete(promise);
    }
  }

  onApprovals(changed: () => void): () => void {
    return this.#notices.add(changed);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.allSettled([...this.#under]);
    await this.#notices.close();
    await this.#pool.end();
  }
}

async function perform<T>(client: ClientBase, operation: Operation<T>): Promise<T> {
  let step = operation.next();
  while (!step.done) {
    const { rows } = await client.query<SqlRow>(step.value.text("postgres"), step.value.values.map(storable));
    step = operation.next(rows.map(restored));
  }
  return step.value;
}

type TypeParser = (type: number, format?: "text" | "binary") => (value: string) => unknown;

/** Numbers of 64 bits: ours are times and counts, which JavaScript's numbers hold. */
function typeParser(standard: TypeParser): TypeParser {
  return (type, format) => (type === INT8 ? Number : standard(type, format));
}
