/** What only a server for many hosts has. Who may do what with it is in src/fleet/rights.ts. */

/** Milliseconds since 1970, by the server's clock: those of the hosts may differ. */
export const SERVER_NOW = "(floor(extract(epoch FROM clock_timestamp()) * 1000))::bigint";

/**
 * Records lie in parts by the time they came, which grows along every chain even where the clocks of hosts differ: a part that
 * is given up is the beginning of what is left of each chain. The table so far becomes the first part as it is.
 */
export const PARTITIONED_AUDIT: readonly string[] = [
  "DROP INDEX audit_session",
  "ALTER TABLE audit RENAME TO audit_before",
  "ALTER TABLE audit_before DROP CONSTRAINT audit_pkey",
  "ALTER TABLE audit_before ADD COLUMN received BIGINT NOT NULL DEFAULT 0",
  `CREATE TABLE audit (
    chain TEXT NOT NULL,
    seq BIGINT NOT NULL,
    time BIGINT NOT NULL,
    session TEXT,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    signature TEXT,
    received BIGINT NOT NULL DEFAULT ${SERVER_NOW},
    PRIMARY KEY (chain, seq, received)) PARTITION BY RANGE (received)`,
  "ALTER TABLE audit ATTACH PARTITION audit_before FOR VALUES FROM (MINVALUE) TO (1)",
  "CREATE TABLE audit_rest PARTITION OF audit DEFAULT",
  "CREATE INDEX audit_session ON audit (session, chain, seq)",
];

export const FLEET_TABLES: readonly string[] = [
  "ALTER TABLE session ADD COLUMN owner TEXT",
  "ALTER TABLE approval ADD COLUMN owner TEXT",
  "CREATE INDEX approval_owner ON approval (owner, state)",
  `CREATE TABLE host (
    id TEXT NOT NULL PRIMARY KEY,
    role TEXT NOT NULL UNIQUE,
    labels TEXT NOT NULL,
    created BIGINT NOT NULL,
    revoked BIGINT,
    wanted BIGINT,
    pinned BIGINT,
    trial BIGINT,
    seen BIGINT,
    version TEXT,
    protections TEXT,
    sessions TEXT,
    state TEXT,
    applied BIGINT,
    calls BIGINT NOT NULL DEFAULT 0,
    denied BIGINT NOT NULL DEFAULT 0,
    trouble TEXT,
    trial_result TEXT)`,
  // A policy that was given out: the same text may be given out again, under a greater number.
  `CREATE TABLE release (
    serial BIGSERIAL PRIMARY KEY,
    policy TEXT NOT NULL,
    signature TEXT,
    given_by TEXT NOT NULL,
    time BIGINT NOT NULL)`,
  // Which hosts get what: of those that match, the one with the smallest rank.
  `CREATE TABLE assignment (
    name TEXT NOT NULL PRIMARY KEY,
    rank BIGINT NOT NULL,
    selector TEXT NOT NULL,
    release BIGINT,
    next BIGINT,
    fallback BIGINT,
    percent DOUBLE PRECISION NOT NULL DEFAULT 100,
    limits TEXT NOT NULL,
    baseline TEXT,
    since BIGINT NOT NULL,
    state TEXT NOT NULL)`,
  `CREATE TABLE trace (
    id TEXT NOT NULL PRIMARY KEY,
    host TEXT NOT NULL,
    name TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    blocks BIGINT NOT NULL,
    started BIGINT NOT NULL,
    changed BIGINT NOT NULL)`,
];
