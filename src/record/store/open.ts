import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { HermesError } from "../../nouns/errors.js";
import { type SqlEngine, storeError } from "./engine.js";
import { migrate } from "./migrate.js";
import { SqlStore } from "./sql-store.js";
import { SqliteEngine } from "./sqlite.js";
import { stateFolder } from "./state-folder.js";
import type { Store } from "./store.js";

export { stateFolder };

interface OpenOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
  /** Read only: a file that does not exist is not created. */
  readonly mustExist?: boolean;
}

/**
 * The store at `sqlite:PATH`, a path, or `postgres://…`; by default what HERMES_STORE says, else `hermes.db` in
 * HERMES's own folder.
 */
export async function openStore(url?: string, options: OpenOptions = {}): Promise<Store> {
  const { env = process.env, home = homedir(), mustExist = false } = options;
  const where = url || env.HERMES_STORE || join(stateFolder(env, home), "hermes.db");
  let engine: SqlEngine | undefined;
  try {
    engine = await engineFor(where, stateFolder(env, home), mustExist);
    await migrate(engine);
  } catch (error) {
    await engine?.close();
    throw storeError(withoutPassword(where), error);
  }
  return new SqlStore(engine);
}

async function engineFor(where: string, folder: string, mustExist: boolean): Promise<SqlEngine> {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(where)?.[1]?.toLowerCase();
  if (scheme === "postgres" || scheme === "postgresql")
    return (await import("./postgres.js")).PostgresEngine.open(where, folder);
  if (scheme === undefined || scheme === "sqlite") {
    const file = scheme === undefined ? where : where.slice("sqlite:".length);
    if (mustExist && !existsSync(file))
      throw new HermesError("STORE", { store: file, message: "there is none yet" });
    return SqliteEngine.open(file);
  }
  throw new HermesError("STORE", {
    store: withoutPassword(where),
    message: "it must be a path, sqlite:PATH or postgres://HOST/DATABASE",
  });
}

function withoutPassword(where: string): string {
  return where.replace(/(:\/\/[^/@:]*):.*@/s, "$1@").replace(/([?&]password=)[^&]*/g, "$1…");
}
