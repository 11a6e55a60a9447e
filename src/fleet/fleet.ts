import { homedir } from "node:os";
import { HermesError } from "../errors.js";
import { type Engine, storeError } from "../store/engine.js";
import { migrate } from "../store/migrate.js";
import { stateFolder } from "../store/open.js";
import { PostgresEngine } from "../store/postgres.js";
import type { Operation } from "../store/sql.js";
import { setRights } from "./rights.js";

/**
 * READ FIRST for many hosts. Each host keeps everything in its own store and is mediated there, whether or not anybody
 * else can be reached; its agent (agent.ts) delivers its records to one PostgreSQL, has its questions answered there and
 * fetches its policy. This is the other end: whoever owns that database.
 */
export class Fleet {
  readonly #engine: Engine;

  private constructor(engine: Engine) {
    this.#engine = engine;
  }

  get name(): string {
    return this.#engine.name;
  }

  /** Brings tables, roles and rights to what this version needs. */
  static async open(url: string | undefined, env = process.env, home = homedir()): Promise<Fleet> {
    const where = url || env.HERMES_STORE || "";
    if (!/^postgres(ql)?:/i.test(where))
      throw new HermesError("FLEET", {
        message: "many hosts need a PostgreSQL: --store postgres://USER@HOST/DATABASE, or HERMES_STORE",
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
