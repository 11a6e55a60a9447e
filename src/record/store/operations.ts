import { SERVER_NOW } from "./fleet-schema.js";
import { allOf, inList, type Operation, raw, type SqlDialect, type SqlRow, sql } from "./sql.js";
import {
  type AllowanceRow,
  type ApprovalAnswer,
  type ApprovalFilter,
  type ApprovalRow,
  type AuditEntry,
  type AuditFilter,
  type AuditRow,
  CHAIN_START,
  type ChainEnd,
  type ChainRow,
  type NewApproval,
  type NewSession,
  type NewToolCall,
  type PolicyRow,
  type Seal,
  type SessionRow,
  type ToolCallChange,
  type ToolCallFilter,
  type ToolCallRow,
  type ToolCallStatus,
} from "./store.js";

/** What a store does, once for both engines. */

const SESSION = raw('id, started, host, pid, pid_started AS "pidStarted", workspace, agent, ended');
const TOOL_CALL = raw("id, session, tool, input, digest, created, status, started, ended, output");
const APPROVAL = raw(
  'id, kind, session, tool_call AS "toolCall", created, expires, digest, keys, what, detail, state, scope, answered, answered_by AS "answeredBy", note, spent',
);
const AUDIT = raw("chain, seq, time, session, kind, body, previous, hash, signature");

/** The columns that were asked for make rows of this type. */
const as = <T>(rows: readonly SqlRow[]) => rows as readonly unknown[] as readonly T[];
const limited = (limit: number | undefined) => (limit === undefined ? raw("") : sql` LIMIT ${limit}`);

export function* openSession(s: NewSession): Operation<void> {
  yield sql`INSERT INTO session (id, started, host, pid, pid_started, workspace, agent)
    VALUES (${s.id}, ${s.started}, ${s.host}, ${s.pid}, ${s.pidStarted}, ${s.workspace}, ${s.agent})`;
}

export function* endSession(id: string, time: number): Operation<void> {
  yield sql`UPDATE session SET ended = ${time} WHERE id = ${id} AND ended IS NULL`;
}

export function* session(id: string): Operation<SessionRow | undefined> {
  const rows = yield sql`SELECT ${SESSION} FROM session WHERE id = ${id}`;
  return as<SessionRow>(rows)[0];
}

export function* sessions(filter: { open?: boolean; limit?: number } = {}): Operation<readonly SessionRow[]> {
  const { open, limit } = filter;
  const where = allOf([open !== undefined && raw(open ? "ended IS NULL" : "ended IS NOT NULL")]);
  const rows =
    yield sql`SELECT ${SESSION} FROM session WHERE ${where} ORDER BY started DESC, n DESC${limited(limit)}`;
  return as<SessionRow>(rows);
}

export function* addToolCall(c: NewToolCall): Operation<void> {
  yield sql`INSERT INTO tool_call (id, session, tool, input, digest, created, status)
    VALUES (${c.id}, ${c.session}, ${c.tool}, ${c.input}, ${c.digest}, ${c.created}, ${c.status})`;
}

export function* changeToolCall(
  id: string,
  from: readonly ToolCallStatus[],
  { status, started, ended, output }: ToolCallChange,
): Operation<boolean> {
  const changed = yield sql`UPDATE tool_call SET status = ${status},
      started = COALESCE(${started ?? null}, started),
      ended = COALESCE(${ended ?? null}, ended),
      output = COALESCE(${output ?? null}, output)
    WHERE id = ${id} AND ${inList("status", from)} RETURNING n`;
  return changed.length > 0;
}

export function* toolCall(id: string): Operation<ToolCallRow | undefined> {
  const rows = yield sql`SELECT ${TOOL_CALL} FROM tool_call WHERE id = ${id}`;
  return as<ToolCallRow>(rows)[0];
}

export function* toolCalls({
  session,
  status,
  limit,
}: ToolCallFilter = {}): Operation<readonly ToolCallRow[]> {
  const where = allOf([
    session !== undefined && sql`session = ${session}`,
    status !== undefined && inList("status", status),
  ]);
  const rows = yield sql`SELECT ${TOOL_CALL} FROM tool_call WHERE ${where}
    ORDER BY created DESC, n DESC${limited(limit)}`;
  return as<ToolCallRow>(rows);
}

export function* park(a: NewApproval): Operation<void> {
  yield sql`INSERT INTO approval
      (id, kind, session, tool_call, created, expires, digest, keys, what, detail, state)
    VALUES (${a.id}, ${a.kind}, ${a.session}, ${a.toolCall}, ${a.created}, ${a.expires}, ${a.digest},
      ${a.keys}, ${a.what}, ${a.detail}, 'pending')`;
  if (a.toolCall === null) return;
  const parked = yield sql`UPDATE tool_call SET status = 'BLOCKED'
    WHERE id = ${a.toolCall} AND status IN ('PENDING', 'RUNNING', 'BLOCKED') RETURNING n`;
  if (parked.length === 0) throw new Error(`there is no tool call ${a.toolCall} that could wait`);
}

export function* answer(
  dialect: SqlDialect,
  id: string,
  { state, scope, by, note, time }: ApprovalAnswer,
): Operation<{ mine: boolean; row: ApprovalRow }> {
  // An answer after the deadline does not count, even where the question is not marked as expired yet.
  const inTime =
    state === "expired" || state === "withdrawn" ? raw("1 = 1") : sql`expires > ${clock(dialect, time)}`;
  const mine = yield sql`UPDATE approval SET state = ${state}, scope = ${scope ?? null}, answered = ${time},
      answered_by = ${by}, note = ${note ?? null}
    WHERE id = ${id} AND state = 'pending' AND ${inTime} RETURNING ${APPROVAL}`;
  if (mine.length > 0) return { mine: true, row: as<ApprovalRow>(mine)[0]! };
  yield sql`UPDATE approval SET state = 'expired', answered = ${time}, answered_by = ${EXPIRY}
    WHERE id = ${id} AND state = 'pending'`;
  const [row] = as<ApprovalRow>(yield sql`SELECT ${APPROVAL} FROM approval WHERE id = ${id}`);
  if (!row) throw new Error(`there is no approval ${id}`);
  return { mine: false, row };
}

/** What a host of a fleet asks is timed by the server; clocks of hosts and of people differ. */
function clock(dialect: SqlDialect, time: number) {
  return dialect === "sqlite"
    ? sql`${time}`
    : sql`(CASE WHEN owner IS NULL THEN ${time}::bigint ELSE ${raw(SERVER_NOW)} END)`;
}

/** Rows that another process is just changing are left to it. */
const passingBy = (dialect: SqlDialect) => raw(dialect === "sqlite" ? "" : " FOR UPDATE SKIP LOCKED");

/** Leases the oldest question that no approver looks at: no other approver gets it until then. */
export function* claim(
  dialect: SqlDialect,
  by: string,
  now: number,
  until: number,
): Operation<ApprovalRow | undefined> {
  const free = sql`state = 'pending' AND expires > ${clock(dialect, now)} AND
    (claimed_until IS NULL OR claimed_until <= ${now} OR claimed_by = ${by})`;
  const rows = yield sql`UPDATE approval SET claimed_by = ${by}, claimed_until = ${until}
    WHERE n = (SELECT n FROM approval WHERE ${free} ORDER BY created, n LIMIT 1${passingBy(dialect)})
    RETURNING ${APPROVAL}`;
  return as<ApprovalRow>(rows)[0];
}

/** The answerer of a question that expired. */
const EXPIRY = "expiry";

export function* spend(id: string, time: number): Operation<boolean> {
  const spent = yield sql`UPDATE approval SET spent = ${time}
    WHERE id = ${id} AND state = 'granted' AND spent IS NULL RETURNING n`;
  return spent.length > 0;
}

export function* approval(id: string): Operation<ApprovalRow | undefined> {
  const rows = yield sql`SELECT ${APPROVAL} FROM approval WHERE id = ${id}`;
  return as<ApprovalRow>(rows)[0];
}

export function* approvals(filter: ApprovalFilter = {}): Operation<readonly ApprovalRow[]> {
  const { kind, state, session, toolCall, digest, since, limit } = filter;
  const where = allOf([
    kind !== undefined && sql`kind = ${kind}`,
    state !== undefined && inList("state", state),
    session !== undefined && sql`session = ${session}`,
    toolCall !== undefined && sql`tool_call = ${toolCall}`,
    digest !== undefined && sql`digest = ${digest}`,
    since !== undefined && sql`created >= ${since}`,
  ]);
  const rows = yield sql`SELECT ${APPROVAL} FROM approval WHERE ${where}
    ORDER BY created, n${limited(limit)}`;
  return as<ApprovalRow>(rows);
}

/** Whether there is something to expire. */
export function* due(dialect: SqlDialect, now: number): Operation<boolean> {
  const rows =
    yield sql`SELECT n FROM approval WHERE state = 'pending' AND expires <= ${clock(dialect, now)} LIMIT 1`;
  return rows.length > 0;
}

export function* expire(dialect: SqlDialect, now: number): Operation<readonly ApprovalRow[]> {
  const over = sql`state = 'pending' AND expires <= ${clock(dialect, now)}`;
  const rows = yield sql`UPDATE approval SET state = 'expired', answered = ${now}, answered_by = ${EXPIRY}
    WHERE n IN (SELECT n FROM approval WHERE ${over}${passingBy(dialect)}) AND state = 'pending'
    RETURNING ${APPROVAL}`;
  return as<ApprovalRow>(rows).toSorted((a, b) => a.created - b.created);
}

export function* addAllowance({ key, given, by, time }: AllowanceRow): Operation<void> {
  yield sql`INSERT INTO allowance (key, given, given_by, time) VALUES (${key}, ${given ? 1 : 0}, ${by}, ${time})`;
}

export function* allowances(): Operation<readonly AllowanceRow[]> {
  const rows = yield sql`SELECT key, given, given_by AS "by", time FROM allowance ORDER BY n`;
  return rows.map((row) => ({ ...row, given: row.given === 1 }) as unknown as AllowanceRow);
}

export function* rememberPolicy({ version, name, text, time }: PolicyRow): Operation<void> {
  yield sql`INSERT INTO policy (version, name, text, time) VALUES (${version}, ${name}, ${text}, ${time})
    ON CONFLICT (version) DO NOTHING`;
}

export function* policy(version: string): Operation<PolicyRow | undefined> {
  const rows = yield sql`SELECT version, name, text, time FROM policy WHERE version = ${version}`;
  return as<PolicyRow>(rows)[0];
}

/** SQLite has one writer at a time; in PostgreSQL a chain has, until the transaction ends. */
export function* appendAudit(
  dialect: SqlDialect,
  chain: string,
  entries: readonly SealedEntry[],
): Operation<readonly AuditRow[]> {
  if (dialect === "postgres") yield sql`SELECT pg_advisory_xact_lock(hashtextextended(${chain}, 7))`;
  const [last] = yield sql`SELECT seq, hash FROM audit WHERE chain = ${chain} ORDER BY seq DESC LIMIT 1`;
  const [end] = last
    ? [last]
    : yield sql`SELECT kept_seq AS seq, kept_hash AS hash FROM chain WHERE name = ${chain}`;
  let seq = Number(end?.seq ?? 0);
  let previous = String(end?.hash ?? CHAIN_START);
  const added: AuditRow[] = [];
  for (const { entry, seal } of entries) {
    const { time, session, kind, body } = entry;
    const open = { chain, seq: ++seq, time, session, kind, body, previous };
    const row = { ...open, ...seal(open) };
    yield sql`INSERT INTO audit (chain, seq, time, session, kind, body, previous, hash, signature)
      VALUES (${chain}, ${seq}, ${time}, ${session}, ${kind}, ${body}, ${previous}, ${row.hash}, ${row.signature})`;
    previous = row.hash;
    added.push(row);
  }
  return added;
}

export interface SealedEntry {
  readonly entry: AuditEntry;
  readonly seal: Seal;
}

/** From chain to chain by the index: there are few of them, and many records. */
export function* chainEnds(): Operation<readonly ChainEnd[]> {
  const rows = yield raw(`WITH RECURSIVE c (chain) AS (
      SELECT MIN(chain) FROM audit
      UNION ALL SELECT (SELECT MIN(chain) FROM audit WHERE chain > c.chain) FROM c WHERE c.chain IS NOT NULL)
    SELECT a.chain, a.seq, a.hash FROM c
    JOIN audit a ON a.chain = c.chain AND a.seq = (SELECT MAX(seq) FROM audit WHERE chain = c.chain)
    UNION ALL SELECT name, kept_seq, kept_hash FROM chain
      WHERE kept_seq > 0 AND NOT EXISTS (SELECT 1 FROM audit WHERE audit.chain = name)
    ORDER BY 1`);
  return as<ChainEnd>(rows);
}

export function* chains(): Operation<readonly ChainRow[]> {
  const rows = yield raw(
    'SELECT name AS chain, host, seq, hash, kept_seq AS "keptSeq", kept_hash AS "keptHash", key FROM chain ORDER BY name',
  );
  return as<ChainRow>(rows);
}

export function* trimAudit(chain: string, upTo: number): Operation<void> {
  const [end] = yield sql`SELECT hash FROM audit WHERE chain = ${chain} AND seq = ${upTo}`;
  if (!end) throw new Error(`there is no record ${upTo} in ${chain}`);
  yield sql`INSERT INTO chain (name, seq, hash, kept_seq, kept_hash)
    VALUES (${chain}, ${upTo}, ${String(end.hash)}, ${upTo}, ${String(end.hash)})
    ON CONFLICT (name) DO UPDATE SET kept_seq = excluded.kept_seq, kept_hash = excluded.kept_hash`;
  yield sql`DELETE FROM audit WHERE chain = ${chain} AND seq <= ${upTo}`;
}

/** The records behind `from`, at most so many. */
export function* auditBlock(
  filter: AuditFilter,
  from: { chain: string; seq: number } | undefined,
  limit: number,
): Operation<readonly AuditRow[]> {
  const where = allOf([auditWhere(filter), from && sql`(chain, seq) > (${from.chain}, ${from.seq})`]);
  const rows = yield sql`SELECT ${AUDIT} FROM audit WHERE ${where} ORDER BY chain, seq LIMIT ${limit}`;
  return as<AuditRow>(rows);
}

/** The newest records, oldest of them first. */
export function* newestAudit(filter: AuditFilter, count: number): Operation<readonly AuditRow[]> {
  const rows = yield sql`SELECT ${AUDIT} FROM audit WHERE ${auditWhere(filter)}
    ORDER BY chain DESC, seq DESC LIMIT ${count}`;
  return as<AuditRow>(rows).toReversed();
}

function auditWhere({ chain, session, kind, since, until, after }: AuditFilter) {
  return allOf([
    chain !== undefined && sql`chain = ${chain}`,
    session !== undefined && sql`session = ${session}`,
    kind !== undefined && inList("kind", kind),
    since !== undefined && sql`time >= ${since}`,
    until !== undefined && sql`time <= ${until}`,
    after !== undefined && sql`seq > ${after}`,
  ]);
}
