import { HermesError } from "../../nouns/errors.js";
import { PACKAGE_VERSION } from "../../nouns/version.js";
import type { SqlEngine } from "./engine.js";
import { LATEST, migration } from "./schema.js";
import { type Operation, raw, type SqlDialect, sql } from "./sql.js";

/** Brings the schema to the version that this program works with, one transaction each. Never back. */
export async function migrate(engine: SqlEngine, upTo = LATEST): Promise<void> {
  const { dialect, name } = engine;
  const found = await engine.read(() => versionOf(dialect));
  if (found === "foreign")
    throw new HermesError("STORE", {
      store: name,
      message: "it is a database of something else; HERMES wants one of its own",
    });
  if (found > LATEST)
    throw new HermesError("STORE", {
      store: name,
      message: `it was written by a newer HERMES (schema ${found}, this one knows ${LATEST}); install that one`,
    });
  if (found < upTo) while (await engine.write(() => step(dialect, upTo)));
}

function* versionOf(dialect: SqlDialect): Operation<number | "foreign"> {
  const tables =
    dialect === "sqlite"
      ? yield raw("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      : yield raw("SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'hermes'");
  if (tables.length === 0) return 0;
  if (!tables.some(({ name }) => name === "migration")) return "foreign";
  const [row] = yield raw("SELECT MAX(version) AS version FROM migration");
  return Number(row?.version ?? 0);
}

/** Makes the next version; false when there was nothing left to do, perhaps because another process did it. */
function* step(dialect: SqlDialect, upTo: number): Operation<boolean> {
  if (dialect === "postgres") {
    yield raw("SELECT pg_advisory_xact_lock(4839172634)");
    yield raw("CREATE SCHEMA IF NOT EXISTS hermes");
  }
  yield raw(
    "CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, time BIGINT NOT NULL, program TEXT NOT NULL)",
  );
  const [row] = yield raw("SELECT MAX(version) AS version FROM migration");
  const next = Number(row?.version ?? 0) + 1;
  if (next > upTo) return false;
  for (const statement of migration(next, dialect)) yield statement;
  yield sql`INSERT INTO migration (version, time, program) VALUES (${next}, ${Date.now()}, ${PACKAGE_VERSION})`;
  return next < upTo;
}
