import { HermesError } from "../nouns/errors.js";
import { type Operation, raw, sql } from "../record/store/sql.js";

/** The audit's partitions: one per month, by the server's clock. */

const AHEAD = 2;

interface Month {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

function month(year: number, index: number): Month {
  const from = Date.UTC(year, index);
  const text = new Date(from).toISOString();
  return { name: `audit_${text.slice(0, 4)}_${text.slice(5, 7)}`, from, to: Date.UTC(year, index + 1) };
}

/**
 * Creates the partitions of this month and the next ones. Records that came before their partition existed stay in the
 * default partition.
 */
export function* preparePartitions(): Operation<readonly string[]> {
  yield raw("SELECT pg_advisory_xact_lock(4839172638)");
  const [row] = yield raw("SELECT server_now() AS now");
  const now = new Date(Number(row!.now));
  const made: string[] = [];
  for (let ahead = 0; ahead <= AHEAD; ahead++) {
    const { name, from, to } = month(now.getUTCFullYear(), now.getUTCMonth() + ahead);
    const [known] = yield sql`SELECT to_regclass(${`hermes.${name}`})::text AS name`;
    if (known?.name) continue;
    // If the month already has records, its partition starts after them, so that nothing has to move.
    const [last] =
      yield sql`SELECT MAX(received) AS received FROM audit_rest WHERE received >= ${from} AND received < ${to}`;
    const start = last?.received == null ? from : Number(row!.now) + 60_000;
    if (start >= to) continue;
    yield raw(`CREATE TABLE ${name} PARTITION OF audit FOR VALUES FROM (${start}) TO (${to})`);
    made.push(name);
  }
  return made;
}

interface DroppedPartitions {
  readonly records: number;
  readonly parts: readonly string[];
}

/**
 * Deletes records older than a time: whole partitions, and rows of the default partition. It stores each chain's new start
 * and the hash before it, so that the rest still verifies.
 */
export function* dropPartitionsBefore(time: number): Operation<DroppedPartitions> {
  yield raw("SELECT pg_advisory_xact_lock(4839172638)");
  const [row] = yield raw("SELECT server_now() AS now");
  if (time > Number(row!.now)) throw new HermesError("FLEET", { message: "that time is in the future" });
  yield raw("LOCK TABLE audit IN SHARE ROW EXCLUSIVE MODE");
  const [count] = yield sql`SELECT COUNT(*) AS n FROM audit WHERE received < ${time}`;
  yield sql`INSERT INTO chain (name, seq, hash, kept_seq, kept_hash)
    SELECT DISTINCT ON (chain) chain, seq, hash, seq, hash FROM audit WHERE received < ${time} ORDER BY chain, seq DESC
    ON CONFLICT (name) DO UPDATE SET kept_seq = excluded.kept_seq, kept_hash = excluded.kept_hash`;
  const parts: string[] = [];
  for (const { name, bound } of yield raw(
    `SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound FROM pg_inherits i
     JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'hermes.audit'::regclass ORDER BY 1`,
  )) {
    const to = /TO \('?(\d+)'?\)/.exec(String(bound))?.[1];
    const isMonth = /^audit_\d{4}_\d\d$/.test(String(name));
    if (isMonth && to !== undefined && Number(to) <= time) {
      yield raw(`DROP TABLE ${String(name)}`);
      parts.push(String(name));
    } else yield raw(`DELETE FROM ${String(name)} WHERE received < ${Math.floor(time)}`);
  }
  return { records: Number(count!.n), parts };
}
