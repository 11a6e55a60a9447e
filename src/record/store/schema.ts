import { FLEET_TABLES, PARTITIONED_AUDIT } from "./fleet-schema.js";
import { raw, type SqlDialect, type Statement } from "./sql.js";

/**
 * Every version of the schema is what the one before it becomes by these statements. A row that has been released is
 * never changed: what is wrong with it is put right by the next one. test/record/store/versions keeps a database of each.
 */
const MIGRATIONS: readonly ((words: Words) => readonly string[])[] = [
  ({ number, end }) => [
    `CREATE TABLE session (
      n ${number},
      id TEXT NOT NULL UNIQUE,
      started BIGINT NOT NULL,
      host TEXT NOT NULL,
      pid BIGINT NOT NULL,
      pid_started BIGINT NOT NULL,
      workspace TEXT NOT NULL,
      agent TEXT NOT NULL,
      ended BIGINT)${end}`,
    `CREATE TABLE tool_call (
      n ${number},
      id TEXT NOT NULL UNIQUE,
      session TEXT NOT NULL,
      tool TEXT NOT NULL,
      input TEXT NOT NULL,
      digest TEXT NOT NULL,
      created BIGINT NOT NULL,
      status TEXT NOT NULL,
      started BIGINT,
      ended BIGINT,
      output TEXT)${end}`,
    "CREATE INDEX tool_call_session ON tool_call (session, created)",
    "CREATE INDEX tool_call_status ON tool_call (status)",
    `CREATE TABLE approval (
      n ${number},
      id TEXT NOT NULL UNIQUE,
      kind TEXT NOT NULL,
      session TEXT NOT NULL,
      tool_call TEXT,
      created BIGINT NOT NULL,
      expires BIGINT NOT NULL,
      digest TEXT NOT NULL,
      keys TEXT NOT NULL,
      what TEXT NOT NULL,
      detail TEXT NOT NULL,
      state TEXT NOT NULL,
      scope TEXT,
      answered BIGINT,
      answered_by TEXT,
      note TEXT,
      spent BIGINT)${end}`,
    "CREATE INDEX approval_state ON approval (state, created)",
    "CREATE INDEX approval_digest ON approval (digest)",
    `CREATE TABLE allowance (
      n ${number},
      key TEXT NOT NULL,
      given BIGINT NOT NULL,
      given_by TEXT NOT NULL,
      time BIGINT NOT NULL)${end}`,
    `CREATE TABLE policy (
      version TEXT NOT NULL PRIMARY KEY,
      name TEXT NOT NULL,
      text TEXT NOT NULL,
      time BIGINT NOT NULL)${end}`,
    `CREATE TABLE audit (
      chain TEXT NOT NULL,
      seq BIGINT NOT NULL,
      time BIGINT NOT NULL,
      session TEXT,
      kind TEXT NOT NULL,
      body TEXT NOT NULL,
      previous TEXT NOT NULL,
      hash TEXT NOT NULL,
      PRIMARY KEY (chain, seq))${end}`,
  ],
  // Chains can be signed, and one session's records are found without reading all of them.
  () => [
    "ALTER TABLE audit ADD COLUMN signature TEXT",
    "CREATE INDEX audit_session ON audit (session, chain, seq)",
    "CREATE INDEX approval_tool_call ON approval (tool_call)",
  ],
  // The beginning of a chain may be given up (retention), and one server keeps what many hosts deliver to it.
  ({ fleet }) => [
    `CREATE TABLE chain (
      name TEXT NOT NULL PRIMARY KEY,
      host TEXT,
      seq BIGINT NOT NULL,
      hash TEXT NOT NULL,
      kept_seq BIGINT NOT NULL,
      kept_hash TEXT NOT NULL,
      key TEXT)${fleet ? "" : " STRICT"}`,
    // Several people share what waits: what one of them looks at is not shown to the next.
    "ALTER TABLE approval ADD COLUMN claimed_by TEXT",
    "ALTER TABLE approval ADD COLUMN claimed_until BIGINT",
    ...(fleet ? [...PARTITIONED_AUDIT, ...FLEET_TABLES] : []),
  ],
];

/** What the engines call differently. */
interface Words {
  /** A number that grows with every row. */
  readonly number: string;
  readonly end: string;
  /** Many hosts can share it. */
  readonly fleet: boolean;
}

const WORDS: Readonly<Record<SqlDialect, Words>> = {
  sqlite: { number: "INTEGER PRIMARY KEY", end: " STRICT", fleet: false },
  postgres: { number: "BIGSERIAL PRIMARY KEY", end: "", fleet: true },
};

/** The version that this program works with. */
export const LATEST = MIGRATIONS.length;

/** From the version before to this one. */
export function migration(version: number, dialect: SqlDialect): readonly Statement[] {
  const statements = MIGRATIONS[version - 1]!(WORDS[dialect]);
  // STRICT tables of SQLite know INTEGER and no other word for it.
  return statements.map((text) => raw(dialect === "sqlite" ? text.replaceAll("BIGINT", "INTEGER") : text));
}
