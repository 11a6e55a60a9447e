import type { Guard } from "../../../intent/guard/guard.js";
import { hashOf, START } from "../../../record/audit/chain.js";
import { readHead } from "../../../record/audit/head.js";
import { readPublicKey } from "../../../record/audit/keys.js";
import { recordLine } from "../../../record/audit/record-line.js";
import { AUDIT_KINDS, type ToolCallBody } from "../../../record/audit/records.js";
import { verifyRows } from "../../../record/audit/verify.js";
import type { AuditFilter, AuditRow, Store } from "../../../record/store/store.js";
import { HttpRefusal, type Route, requiredText } from "../route.js";

const SHOWN = 100;
/** Of each chain: who looks for something older says until when. */
const SEARCHED = 5000;
const LONGEST = 400;

/** The records: found, explained, and held against their hashes. */
export function auditRoutes(store: Store, guard: () => Promise<Guard>): readonly Route[] {
  let verifying: Promise<object> | undefined;
  return [
    {
      method: "GET",
      path: "/api/audit",
      role: "viewer",
      handle: ({ query }) => search(store, query),
    },
    {
      method: "GET",
      path: "/api/record",
      role: "viewer",
      handle: ({ query }) =>
        explain(store, guard, requiredText(query.get("chain"), "chain", 400), Number(query.get("seq"))),
    },
    {
      method: "POST",
      path: "/api/verify",
      role: "viewer",
      // All who ask meanwhile get the same answer: it reads every record.
      handle: () => {
        verifying ??= verify(store).finally(() => {
          verifying = undefined;
        });
        return verifying;
      },
    },
  ];
}

async function search(store: Store, query: URLSearchParams): Promise<object> {
  const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean).slice(0, 20);
  const kind = AUDIT_KINDS.find((one) => one === query.get("kind"));
  const [session, until] = [query.get("session"), Number(query.get("until") ?? Number.NaN)];
  const filter: AuditFilter = {
    last: words.length > 0 ? SEARCHED : SHOWN,
    ...(kind && { kind: [kind] }),
    ...(session && { session }),
    ...(Number.isFinite(until) && { until }),
  };
  const found: AuditRow[] = [];
  let cut = false;
  for (const { chain } of await store.chainEnds()) {
    let read = 0;
    for await (const row of store.audit({ ...filter, chain })) {
      read++;
      const body = `${row.kind} ${row.session ?? ""} ${row.body}`.toLowerCase();
      if (words.every((word) => body.includes(word))) found.push(row);
    }
    cut ||= read >= filter.last!;
  }
  found.sort((a, b) => b.time - a.time || b.seq - a.seq);
  return { records: found.slice(0, SHOWN).map(short), more: found.length > SHOWN || cut };
}

function short(row: AuditRow) {
  const { chain, seq, time, session, kind } = row;
  const line = recordLine(row);
  return {
    chain,
    seq,
    time,
    session,
    kind,
    line: line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line,
  };
}

async function explain(
  store: Store,
  guard: () => Promise<Guard>,
  chain: string,
  seq: number,
): Promise<object> {
  const pair: AuditRow[] = [];
  for await (const row of store.audit({ chain, after: Math.max(seq - 2, 0) })) {
    pair.push(row);
    if (row.seq >= seq) break;
  }
  const row = pair.find((one) => one.seq === seq);
  if (!row) throw new HttpRefusal(404, "there is no such record");
  const before = pair.find((one) => one.seq === seq - 1);
  const body = parsed(row);
  return {
    ...row,
    body,
    line: recordLine(row),
    // Whether it is as it was written, and follows the one before it.
    whole: hashOf(row) === row.hash,
    follows: row.previous === (seq === 1 ? START : before?.hash),
    related: (await related(store, row, body)).map(short),
    ...(row.kind === "tool-call" && { today: await today(await guard(), body as Partial<ToolCallBody>) }),
  };
}

/** All that is known of the same call. */
async function related(store: Store, row: AuditRow, body: Body): Promise<AuditRow[]> {
  const call = body.toolCall ?? body.id;
  if (row.session === null || typeof call !== "string") return [];
  const found: AuditRow[] = [];
  for await (const one of store.audit({ chain: row.chain, session: row.session, last: SEARCHED })) {
    const { id, toolCall } = parsed(one);
    if (one.seq !== row.seq && (id === call || toolCall === call)) found.push(one);
  }
  return found.slice(-SHOWN);
}

/** What the guard says to the same today. */
async function today(guard: Guard, { kind, input, fields }: Partial<ToolCallBody>): Promise<object | null> {
  if (kind === undefined || input === undefined) return null;
  const subject = { kind, input, ...(fields && { fields }) };
  return { ...(await guard.judge(subject)), explanation: guard.explain(subject) };
}

async function verify(store: Store): Promise<object> {
  const key = readPublicKey(`${store.beside}.pub`);
  // Before the records: those that are added meanwhile must not look like a lie of the head.
  const head = readHead(`${store.beside}.head`);
  return { chains: await verifyRows(store.audit(), { keys: key ? [key] : [], head }) };
}

type Body = Readonly<Record<string, unknown>>;

function parsed({ body }: AuditRow): Body {
  try {
    return JSON.parse(body) as Body;
  } catch {
    return { text: body };
  }
}
