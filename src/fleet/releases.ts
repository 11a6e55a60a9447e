import type { KeyObject } from "node:crypto";
import { HermesError } from "../nouns/errors.js";
import { inList, type Operation, raw, type SqlRow, sql } from "../record/store/sql.js";
import { noHost } from "./hosts.js";
import { isChosen, type Labels, matches } from "./labels.js";
import { hashOfText, signRelease } from "./signature.js";

/** The policy of a group of hosts, and the progress of a rollout to it. */
export interface Assignment {
  readonly name: string;
  readonly rank: number;
  readonly selector: Labels;
  /** The active serial; null before the first rollout is complete. */
  readonly release: number | null;
  /** The serial being rolled out, and to how many percent of the hosts. */
  readonly next: number | null;
  /** The serial for a rollback: the previously active text under a new serial. */
  readonly fallback: number | null;
  readonly percent: number;
  readonly limits: RollbackLimits;
  /** Calls and refusals of its hosts before the rollout. */
  readonly baseline: DenialRate | null;
  readonly since: number;
  readonly state: "in force" | "rolling out" | "rolled back";
}

export interface DenialRate {
  readonly calls: number;
  readonly denied: number;
}

/** When a rollout is rolled back automatically. */
interface RollbackLimits {
  /** Increase of the share of refused calls: 0.02 is two percentage points. */
  readonly jump: number;
  /** Minimum number of refusals: fewer are not significant. */
  readonly atLeast: number;
}

export const ROLLBACK_LIMITS: RollbackLimits = { jump: 0.02, atLeast: 20 };

export interface Push {
  readonly name: string;
  readonly text: string;
  readonly selector: Labels;
  readonly rank: number;
  readonly percent: number;
  readonly limits: RollbackLimits;
  readonly by: string;
  readonly key?: KeyObject;
}

const LOCK = raw("SELECT pg_advisory_xact_lock(4839172636)");
const TELL = raw("SELECT pg_notify('hermes_policies', '')");

/** Releases a policy and returns its serial. */
export function* push(order: Push): Operation<number> {
  yield LOCK;
  const { name, text, selector, rank, percent, limits, by, key } = order;
  const policy = hashOfText(text);
  yield sql`INSERT INTO policy (version, name, text, time) VALUES (${policy}, ${name}, ${text}, server_now())
    ON CONFLICT (version) DO NOTHING`;
  const before = (yield* assignments()).find((one) => one.name === name);
  if (before?.next !== null && before !== undefined)
    throw new HermesError("FLEET", {
      message: `${name}: ${before.next} is still rolling out: finish or abort it first`,
    });
  const serial = yield* give(policy, by, key);
  const old = before?.release ?? null;
  // Signed now, because an automatic rollback later has no key.
  const fallback = old === null ? null : yield* give(yield* policyOf(old), by, key);
  const whole = percent >= 100;
  const baseline = yield* rateOf(old);
  yield sql`INSERT INTO assignment (name, rank, selector, release, next, fallback, percent, limits, baseline, since, state)
    VALUES (${name}, ${rank}, ${JSON.stringify(selector)}, ${whole ? serial : old}, ${whole ? null : serial},
      ${fallback}, ${percent}, ${JSON.stringify(limits)}, ${JSON.stringify(baseline)}, server_now(),
      ${whole ? "in force" : "rolling out"})
    ON CONFLICT (name) DO UPDATE SET rank = excluded.rank, selector = excluded.selector,
      release = excluded.release, next = excluded.next, fallback = excluded.fallback, percent = excluded.percent,
      limits = excluded.limits, baseline = excluded.baseline, since = excluded.since, state = excluded.state`;
  yield* settleRelease();
  return serial;
}

function* give(policy: string, by: string, key: KeyObject | undefined): Operation<number> {
  const [row] = yield raw("SELECT nextval('release_serial_seq') AS serial");
  const serial = Number(row!.serial);
  const signature = key ? signRelease({ serial, policy }, key) : null;
  yield sql`INSERT INTO release (serial, policy, signature, given_by, time)
    VALUES (${serial}, ${policy}, ${signature}, ${by}, server_now())`;
  return serial;
}

function* policyOf(serial: number): Operation<string> {
  const [row] = yield sql`SELECT policy FROM release WHERE serial = ${serial}`;
  if (!row) throw new HermesError("FLEET", { message: `there is no policy with the number ${serial}` });
  return String(row.policy);
}

/** Counts of the hosts on which it is active. */
export function* rateOf(serial: number | null): Operation<DenialRate> {
  const [row] =
    yield sql`SELECT COALESCE(SUM(calls), 0)::bigint AS calls, COALESCE(SUM(denied), 0)::bigint AS denied
    FROM host WHERE applied = ${serial}`;
  return { calls: Number(row!.calls), denied: Number(row!.denied) };
}

/** Extends the rollout to more hosts, or to all. */
export function* advance(name: string, percent: number): Operation<void> {
  yield LOCK;
  const { next } = yield* rollingOut(name);
  if (percent >= 100)
    yield sql`UPDATE assignment SET release = ${next}, next = NULL, percent = 100, since = server_now(),
      state = 'in force' WHERE name = ${name}`;
  else yield sql`UPDATE assignment SET percent = ${percent}, since = server_now() WHERE name = ${name}`;
  yield* settleRelease();
}

/** Rolls back to the previous policy on the hosts that already had the new one. */
export function* rollBack(name: string): Operation<void> {
  yield LOCK;
  const { next, fallback, release } = yield* rollingOut(name);
  yield sql`UPDATE assignment SET release = ${fallback ?? release}, next = NULL, fallback = NULL, percent = 100,
    since = server_now(), state = 'rolled back' WHERE name = ${name} AND next = ${next}`;
  yield* settleRelease();
}

function* rollingOut(name: string): Operation<Assignment & { readonly next: number }> {
  const found = (yield* assignments()).find((one) => one.name === name);
  if (!found || found.next === null)
    throw new HermesError("FLEET", { message: `${name}: no rollout is in progress` });
  return found as Assignment & { readonly next: number };
}

/**
 * Pins a host to this policy until it is unpinned. Released under a new serial, so that the host also accepts an older
 * text.
 */
export function* pinHost(
  host: string,
  serial: number | null,
  by: string,
  key?: KeyObject,
): Operation<number | null> {
  yield LOCK;
  const given = serial === null ? null : yield* give(yield* policyOf(serial), by, key);
  const [row] =
    yield sql`UPDATE host SET pinned = ${given} WHERE id = ${host} AND revoked IS NULL RETURNING id`;
  if (!row) throw noHost(host);
  yield* settleRelease();
  return given;
}

/** Asks hosts to simulate it on their traces; they report the result. */
export function* tryRelease(
  text: string,
  selector: Labels,
  by: string,
): Operation<{ serial: number; hosts: string[] }> {
  yield LOCK;
  const policy = hashOfText(text);
  yield sql`INSERT INTO policy (version, name, text, time) VALUES (${policy}, 'trial', ${text}, server_now())
    ON CONFLICT (version) DO NOTHING`;
  const serial = yield* give(policy, by, undefined);
  const chosen: string[] = [];
  for (const { id, labels } of yield raw("SELECT id, labels FROM host WHERE revoked IS NULL"))
    if (matches(selector, JSON.parse(String(labels)))) {
      chosen.push(String(id));
      yield sql`UPDATE host SET trial = ${serial}, trial_result = NULL WHERE id = ${String(id)}`;
    }
  yield TELL;
  return { serial, hosts: chosen };
}

export function* assignments(): Operation<readonly Assignment[]> {
  const rows = yield raw("SELECT * FROM assignment ORDER BY rank, name");
  return rows.map(assignmentOf);
}

function assignmentOf(row: SqlRow): Assignment {
  return {
    name: String(row.name),
    rank: Number(row.rank),
    selector: JSON.parse(String(row.selector)),
    release: row.release as number | null,
    next: row.next as number | null,
    fallback: row.fallback as number | null,
    percent: Number(row.percent),
    limits: JSON.parse(String(row.limits)),
    baseline: row.baseline === null ? null : JSON.parse(String(row.baseline)),
    since: Number(row.since),
    state: row.state as Assignment["state"],
  };
}

/** Writes each host's assigned serial to its row; hosts whose row changed are notified. */
export function* settleRelease(): Operation<number> {
  yield LOCK;
  const all = yield* assignments();
  const changed = new Map<number | null, string[]>();
  for (const row of yield raw("SELECT id, labels, wanted, pinned FROM host WHERE revoked IS NULL")) {
    const id = String(row.id);
    const wanted = (row.pinned as number | null) ?? wantedBy(id, JSON.parse(String(row.labels)), all);
    if (wanted !== row.wanted) changed.set(wanted, [...(changed.get(wanted) ?? []), id]);
  }
  for (const [wanted, ids] of changed)
    yield sql`UPDATE host SET wanted = ${wanted} WHERE ${inList("id", ids)}`;
  if (changed.size > 0) yield TELL;
  return changed.size;
}

/** The first assignment by rank that selects this host. */
function wantedBy(host: string, labels: Labels, all: readonly Assignment[]): number | null {
  const own = all.find(({ selector }) => matches(selector, labels));
  if (!own) return null;
  return own.next !== null && isChosen(own.name, host, own.percent) ? own.next : own.release;
}
