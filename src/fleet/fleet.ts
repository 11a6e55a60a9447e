import { homedir } from "node:os";
import { HermesError } from "../nouns/errors.js";
import { type SqlEngine, storeError } from "../record/store/engine.js";
import { migrate } from "../record/store/migrate.js";
import { stateFolder } from "../record/store/open.js";
import { PostgresEngine } from "../record/store/postgres.js";
import type { Operation } from "../record/store/sql.js";
import { setRights } from "./rights.js";

/**
 * READ FIRST for fleets of hosts. Each host keeps everything in its own store and mediates without the server. Its agent
 * (agent.ts) delivers its records to one PostgreSQL, forwards its questions there and fetches its policy. This is the other
 * side, run by the owner of that database.
 */
export class Fleet {
  readonly #engine: SqlEngine;

  private constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  get name(): string {
    return this.#engine.name;
  }

  /** Migrates tables, roles and grants to this version. */
  static async open(url: string | undefined, env = process.env, home = homedir()): Promise<Fleet> {
    const where = url || env.HERMES_STORE || "";
    if (!/^postgres(ql)?:/i.test(where))
      throw new HermesError("FLEET", {
        message: "a fleet needs PostgreSQL: use --store postgres://USER@HOST/DATABASE, or HERMES_STORE",
      });
    const engine = await PostgresEngine.open(where, stateFolder(env, home)).catch((error) => {
      throw storeError("postgres", error);
    });
    const fleet = new Fleet(engine);
    try {
      await migrate(engine);
      await fleet.write(setRights);
    } catch (error) {
      await engine.close();
      throw storeError(engine.name, error);
    }
    return fleet;
  }

  read<T>(operation: () => Operation<T>): Promise<T> {
    return this.#named(this.#engine.read(operation));
  }

  write<T>(operation: () => Operation<T>): Promise<T> {
    return this.#named(this.#engine.write(operation));
  }

  async #named<T>(promise: Promise<T>): Promise<T> {
    try {
      return await promise;
    } catch (error) {
      throw storeError(this.name, error);
    }
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}
