import { randomBytes } from "node:crypto";
import { HermesError } from "../nouns/errors.js";
import { type Operation, raw, type SqlRow, sql } from "../record/store/sql.js";
import { newKey } from "./key.js";
import { checkHostName, type Labels } from "./labels.js";
import { HOSTS } from "./rights.js";

/** A host as the control plane knows it. What it reports about itself is untrusted text. */
export interface Host {
  readonly id: string;
  readonly labels: Labels;
  readonly created: number;
  readonly revoked: number | null;
  /** When it was last seen, by the server's clock. */
  readonly seen: number | null;
  readonly version: string | null;
  /** The host's `hermes doctor` report. */
  readonly protections: readonly { readonly name: string; readonly state: string }[];
  readonly sessions: readonly { readonly pid: number; readonly command: string }[];
  /** `online`, or how long it has been silent. */
  readonly state: "new" | "online" | "away" | "revoked";
  readonly wanted: number | null;
  readonly applied: number | null;
  readonly pinned: number | null;
  readonly calls: number;
  readonly denied: number;
  readonly trouble: string | null;
  readonly trialResult: unknown;
}

/** After longer silence a host is offline. */
const AWAY_MS = 30_000;

export interface Enrolled {
  readonly id: string;
  readonly role: string;
  readonly key: string;
}

/** Creates the host and its role. The key is printed once: the server stores only a verifier. */
export function* enroll(id: string, labels: Labels, now: number): Operation<Enrolled> {
  checkHostName(id);
  const role = `hermes_host_${randomBytes(8).toString("hex")}`;
  const { key, verifier } = newKey();
  const [known] = yield sql`SELECT id FROM host WHERE id = ${id}`;
  if (known) throw new HermesError("FLEET", { message: `the host ${id} already exists` });
  yield sql`INSERT INTO host (id, role, labels, created) VALUES (${id}, ${role}, ${JSON.stringify(labels)}, ${now})`;
  yield raw(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 5 PASSWORD '${verifier}'`);
  yield raw(`GRANT ${HOSTS} TO ${role}`);
  return { id, role, key };
}

/** Revokes access at once; its records stay. */
export function* revoke(id: string, now: number): Operation<void> {
  const [row] =
    yield sql`UPDATE host SET revoked = ${now} WHERE id = ${id} AND revoked IS NULL RETURNING role`;
  if (!row) throw noHost(id);
  const role = String(row.role);
  yield raw(`ALTER ROLE ${role} NOLOGIN PASSWORD NULL`);
  yield raw(`REVOKE ${HOSTS} FROM ${role}`);
  yield sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ${role}`;
}

export function* setLabels(id: string, set: Labels, removed: readonly string[]): Operation<Labels> {
  const [row] = yield sql`SELECT labels FROM host WHERE id = ${id} FOR UPDATE`;
  if (!row) throw noHost(id);
  const labels: Record<string, string> = { ...JSON.parse(String(row.labels)), ...set };
  for (const key of removed) delete labels[key];
  yield sql`UPDATE host SET labels = ${JSON.stringify(labels)} WHERE id = ${id}`;
  return labels;
}

export function* hosts(): Operation<readonly Host[]> {
  const rows = yield raw("SELECT *, server_now() AS now FROM host ORDER BY id");
  return rows.map(hostOf);
}

function hostOf(row: SqlRow): Host {
  const now = Number(row.now);
  const seen = row.seen === null ? null : Number(row.seen);
  const silent = seen === null ? "new" : now - seen > AWAY_MS ? "away" : "online";
  return {
    id: String(row.id),
    labels: JSON.parse(String(row.labels)),
    created: Number(row.created),
    revoked: row.revoked as number | null,
    seen,
    version: row.version as string | null,
    protections: read(row.protections) ?? [],
    sessions: read(row.sessions) ?? [],
    state: row.revoked !== null ? "revoked" : silent,
    wanted: row.wanted as number | null,
    applied: row.applied as number | null,
    pinned: row.pinned as number | null,
    calls: Number(row.calls),
    denied: Number(row.denied),
    trouble: row.trouble as string | null,
    trialResult: read(row.trial_result) ?? null,
  };
}

/** Untrusted: a host may write anything. */
function read<T>(value: SqlRow[string] | undefined): T | undefined {
  try {
    return typeof value === "string" ? (JSON.parse(value) as T) : undefined;
  } catch {
    return undefined;
  }
}

export function noHost(id: string): HermesError {
  return new HermesError("FLEET", { message: `the host ${id} does not exist, or was revoked` });
}
