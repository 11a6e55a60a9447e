import { createHash } from "node:crypto";
import { SERVER_NOW } from "../record/store/fleet-schema.js";
import { type Operation, raw } from "../record/store/sql.js";

/** The role of which every host's role is a member, and the role for people who do not own the database. */
export const HOSTS = "hermes_hosts";
const STAFF = "hermes_staff";

/** The agent protocol's version. A server supports all versions from OLDEST on, so that hosts can be updated later. */
export const FLEET_PROTOCOL = 1;
const OLDEST = 1;

const STAFF_TABLES =
  "session, tool_call, approval, allowance, policy, audit, chain, host, release, assignment, trace";

/**
 * A host may add its own rows and read what is meant for it. Its login identifies it: `me()` is the host of the session's
 * role, and row-level security ties every row to it. Operations beyond that are SECURITY DEFINER functions, which check the
 * caller first.
 */
const STATEMENTS: readonly string[] = [
  ...[HOSTS, STAFF].map(
    (role) => `DO $$ BEGIN CREATE ROLE ${role} NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
  ),
  "REVOKE ALL ON SCHEMA hermes FROM PUBLIC",
  `GRANT USAGE ON SCHEMA hermes TO ${HOSTS}, ${STAFF}`,
  `GRANT SELECT ON migration TO ${HOSTS}, ${STAFF}`,
  `GRANT SELECT, INSERT, UPDATE ON ${STAFF_TABLES} TO ${STAFF}`,
  `GRANT USAGE ON ALL SEQUENCES IN SCHEMA hermes TO ${STAFF}`,
  definer("me()", "TEXT", "sql STABLE", "SELECT id FROM host WHERE role = session_user AND revoked IS NULL"),
  definer("server_now()", "BIGINT", "sql VOLATILE", `SELECT ${SERVER_NOW}`),
  ...["host", "chain", "release", "policy", "session", "approval", "audit", "trace"].flatMap((table) => [
    `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
    ...policy(table, "staff", STAFF, "true", "true"),
  ]),
  ...policy("host", "own", HOSTS, "id = (SELECT me())", "id = (SELECT me())"),
  ...policy("chain", "own", HOSTS, "host = (SELECT me())"),
  // The assigned policy and the trial.
  ...policy("release", "own", HOSTS, "serial IN (SELECT unnest(ARRAY[wanted, trial]) FROM host)"),
  ...policy("policy", "own", HOSTS, "version IN (SELECT policy FROM release)"),
  ...policy("session", "own", HOSTS, "owner = (SELECT me())", "owner = (SELECT me())"),
  ...policy(
    "approval",
    "own",
    HOSTS,
    "owner = (SELECT me())",
    `owner = (SELECT me()) AND state = 'pending' AND created <= server_now()
      AND expires <= server_now() + 604800000`,
  ),
  ...policy("trace", "own", HOSTS, "host = (SELECT me())", "host = (SELECT me())"),
  `GRANT SELECT ON host, chain, release, policy, session, approval, trace TO ${HOSTS}`,
  `GRANT UPDATE (seen, version, protections, sessions, state, applied, calls, denied, trouble, trial_result)
    ON host TO ${HOSTS}`,
  `GRANT INSERT (id, started, host, pid, pid_started, workspace, agent, ended, owner), UPDATE (ended)
    ON session TO ${HOSTS}`,
  `GRANT INSERT (id, kind, session, tool_call, created, expires, digest, keys, what, detail, state, owner)
    ON approval TO ${HOSTS}`,
  "GRANT USAGE ON SEQUENCE session_n_seq, approval_n_seq TO hermes_hosts",
  `GRANT INSERT, UPDATE (bytes, blocks, changed) ON trace TO ${HOSTS}`,
  definer(
    "begin_chain(called TEXT, public_key TEXT)",
    "TABLE (seq BIGINT, hash TEXT)",
    "plpgsql",
    `BEGIN
      IF me() IS NULL THEN RAISE EXCEPTION 'this role is no host' USING ERRCODE = '42501'; END IF;
      INSERT INTO chain AS c (name, host, seq, hash, kept_seq, kept_hash)
        SELECT called, me(), 0, repeat('0', 64), 0, repeat('0', 64)
        WHERE NOT EXISTS (SELECT FROM audit a WHERE a.chain = called) ON CONFLICT (name) DO NOTHING;
      -- The first key stays: an attacker who takes over the host later cannot replace it.
      UPDATE chain c SET key = public_key WHERE c.name = called AND c.host = me() AND c.key IS NULL;
      RETURN QUERY SELECT c.seq, c.hash FROM chain c WHERE c.name = called AND c.host = me();
      IF NOT FOUND THEN RAISE EXCEPTION 'this chain is of another host' USING ERRCODE = '42501'; END IF;
    END`,
  ),
  // Appends records in order and without gaps, each linked to the one before. Duplicates are skipped.
  definer(
    "deliver(called TEXT, records JSONB)",
    "BIGINT",
    "plpgsql",
    `DECLARE head chain%ROWTYPE; fine BOOLEAN; last RECORD;
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended(called, 7));
      SELECT * INTO head FROM chain WHERE name = called AND host = me() FOR UPDATE;
      IF NOT FOUND THEN RAISE EXCEPTION 'this chain is of another host' USING ERRCODE = '42501'; END IF;
      SELECT bool_and(n = head.seq + place AND before = COALESCE(earlier, head.hash)) INTO fine FROM (
        SELECT r.seq AS n, r.previous AS before, row_number() OVER w AS place, lag(r.hash) OVER w AS earlier
        FROM jsonb_to_recordset(records) AS r (seq BIGINT, previous TEXT, hash TEXT)
        WHERE r.seq > head.seq WINDOW w AS (ORDER BY r.seq)) AS linked;
      IF fine IS NULL THEN RETURN head.seq; END IF;
      IF NOT fine THEN
        RAISE EXCEPTION 'these records do not follow record % of the chain', head.seq USING ERRCODE = '22000';
      END IF;
      INSERT INTO audit (chain, seq, time, session, kind, body, previous, hash, signature)
        SELECT called, r.seq, r.time, r.session, r.kind, r.body, r.previous, r.hash, r.signature
        FROM jsonb_to_recordset(records) AS r
          (seq BIGINT, time BIGINT, session TEXT, kind TEXT, body TEXT, previous TEXT, hash TEXT, signature TEXT)
        WHERE r.seq > head.seq;
      SELECT r.seq, r.hash INTO last FROM jsonb_to_recordset(records) AS r (seq BIGINT, hash TEXT)
        ORDER BY r.seq DESC LIMIT 1;
      UPDATE chain SET seq = last.seq, hash = last.hash WHERE name = called;
      RETURN last.seq;
    END`,
  ),
  // The only change that a host may make to its question: withdraw it.
  definer(
    "take_back(question TEXT, why TEXT)",
    "VOID",
    "sql",
    `UPDATE approval SET state = 'withdrawn', answered = server_now(), answered_by = 'host:' || me(), note = why
      WHERE id = question AND owner = me() AND state = 'pending'`,
  ),
  definer(
    "spent(question TEXT)",
    "VOID",
    "sql",
    `UPDATE approval SET spent = server_now()
      WHERE id = question AND owner = me() AND state = 'granted' AND spent IS NULL`,
  ),
  definer(
    "tell_host()",
    "TRIGGER",
    "plpgsql",
    "BEGIN PERFORM pg_notify('hermes_answers', NEW.owner); RETURN NULL; END",
  ),
  `CREATE OR REPLACE TRIGGER answered AFTER UPDATE OF state ON approval FOR EACH ROW
    WHEN (NEW.owner IS NOT NULL AND OLD.state = 'pending') EXECUTE FUNCTION tell_host()`,
  definer(
    "speaks(protocol INT)",
    "BOOLEAN",
    "sql",
    `SELECT protocol BETWEEN ${OLDEST} AND ${FLEET_PROTOCOL}`,
  ),
  ...[
    "me()",
    "server_now()",
    "speaks(INT)",
    "tell_host()",
    "begin_chain(TEXT, TEXT)",
    "deliver(TEXT, JSONB)",
    "take_back(TEXT, TEXT)",
    "spent(TEXT)",
  ].flatMap((name) => [
    `REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`,
    `GRANT EXECUTE ON FUNCTION ${name} TO ${HOSTS}, ${STAFF}`,
  ]),
];

const VERSION = createHash("sha256").update(STATEMENTS.join(";")).digest("hex").slice(0, 16);

/** Migrates roles, grants and functions to this version. If they are current, it takes no lock. */
export function* setRights(): Operation<void> {
  yield raw("SELECT pg_advisory_xact_lock(4839172635)");
  const [now] = yield raw("SELECT obj_description('hermes'::regnamespace, 'pg_namespace') AS rights");
  if (now?.rights === VERSION) return;
  for (const statement of STATEMENTS) yield raw(statement);
  yield raw(`COMMENT ON SCHEMA hermes IS '${VERSION}'`);
}

function definer(signature: string, returns: string, language: string, body: string): string {
  return `CREATE OR REPLACE FUNCTION ${signature} RETURNS ${returns} LANGUAGE ${language} SECURITY DEFINER
    SET search_path = hermes, pg_temp AS $body$ ${body} $body$`;
}

function policy(table: string, name: string, role: string, using: string, check = "false"): string[] {
  return [
    `DROP POLICY IF EXISTS ${name} ON ${table}`,
    `CREATE POLICY ${name} ON ${table} TO ${role} USING (${using}) WITH CHECK (${check})`,
  ];
}
