import { setTimeout as sleep } from "node:timers/promises";
import type { AllowEntry } from "../../intent/guard/config/allow.js";
import { HermesError } from "../../nouns/errors.js";
import { runRecords } from "../../record/audit/run-log.js";
import { openStore } from "../../record/store/open.js";
import type { AuditFilter, Store } from "../../record/store/store.js";
import { type LogEntry, ofAudit, ofRun } from "../log-entry.js";
import { pointInTime, wholeNumber } from "../options/values.js";
import { logLine } from "../views/log.js";
import { print } from "../views/output.js";

interface LogFlags {
  readonly denied?: boolean;
  readonly since?: string;
  readonly until?: string;
  readonly store?: string;
  readonly n: string;
  readonly follow?: boolean;
  readonly json?: boolean;
}

const KINDS = ["tool-call", "approval-answered", "deed"];
/** Without `--since`, no older records of a host are looked at. */
const LOOKED_AT = 10_000;
const LOOK_MS = 500;

/** What agents and runs did and were refused, of the audit and of the file of runs, oldest first. */
export async function logCommand(flags: LogFlags): Promise<number> {
  const count = wholeNumber("-n", flags.n);
  const since = flags.since === undefined ? undefined : pointInTime("--since", flags.since);
  const until = flags.until === undefined ? undefined : pointInTime("--until", flags.until);
  const wanted = ({ denied }: LogEntry) => denied || !flags.denied;
  const show = (entry: LogEntry) => print(flags.json ? `${JSON.stringify(entry)}\n` : logLine(entry));
  const all = (await entries(flags.store, { since, until })).filter(wanted);
  for (const entry of count === 0 ? all : all.slice(-count)) show(entry);
  if (all.length === 0 && !flags.json && !flags.follow)
    print(flags.denied ? "Nothing was refused.\n" : "Nothing is recorded.\n");
  // Records of one millisecond may come one after the other.
  for (const seen = new Set(all.map(keyOf)); flags.follow; await sleep(LOOK_MS))
    for (const entry of (await entries(flags.store, { since: Date.now() - OVERLAP_MS })).filter(wanted)) {
      if (seen.has(keyOf(entry))) continue;
      seen.add(keyOf(entry));
      show(entry);
    }
  return 0;
}

const OVERLAP_MS = 60_000;

const keyOf = ({ time, id, source, run }: LogEntry) => `${time} ${id} ${source} ${run}`;

/** The entry of `allow:` that lifts what the log shows with this id. */
export async function findRefusal(id: string, store?: string): Promise<AllowEntry> {
  const wrong = (message: string) => new HermesError("ALLOW", { id, message });
  if (!/^[0-9a-f]{4,16}$/.test(id)) throw wrong("an id is 4 to 8 of 0-9 and a-f: see hermes log --denied");
  const found = (await entries(store)).filter((entry) => entry.denied && entry.id.startsWith(id));
  const ids = new Set(found.map((entry) => entry.id));
  if (ids.size > 1) throw wrong(`${ids.size} refusals begin so: write more of it`);
  const [first] = found;
  if (!first) throw wrong("there is no such refusal: see hermes log --denied");
  if (!first.entry)
    throw wrong(
      `no entry of \`allow:\` lifts ${first.by || "it"}: change the policy, or answer it in hermes approvals`,
    );
  return first.entry;
}

interface Period {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

async function entries(store: string | undefined, period: Period = {}): Promise<LogEntry[]> {
  const found = [...(await entriesOfAudit(store, period)), ...(await entriesOfRuns(store, period))];
  return found.sort((a, b) => a.time - b.time);
}

async function entriesOfRuns(store: string | undefined, { since = 0, until }: Period): Promise<LogEntry[]> {
  if (store !== undefined) return [];
  const found: LogEntry[] = [];
  for await (const record of runRecords())
    if (record.time >= since && record.time <= (until ?? record.time)) found.push(...ofRun(record));
  return found;
}

async function entriesOfAudit(url: string | undefined, period: Period): Promise<LogEntry[]> {
  const store = await existingStore(url);
  if (!store) return [];
  try {
    const { since, until } = period;
    const filter: AuditFilter = {
      kind: KINDS,
      ...(since === undefined ? { last: LOOKED_AT } : { since }),
      ...(until !== undefined && { until }),
    };
    const workspaces = new Map<string, string | undefined>();
    const found: LogEntry[] = [];
    for (const { chain } of await store.chainEnds())
      for await (const row of store.audit({ ...filter, chain })) {
        const { session } = row;
        if (session !== null && !workspaces.has(session))
          workspaces.set(session, (await store.session(session))?.workspace);
        found.push(...ofAudit(row, session === null ? undefined : workspaces.get(session)));
      }
    return found;
  } finally {
    await store.close();
  }
}

/** Nothing is recorded yet where there is no store, unless the user names one. */
async function existingStore(url: string | undefined): Promise<Store | undefined> {
  try {
    return await openStore(url, { mustExist: true });
  } catch (error) {
    if (url === undefined && /there is none yet/.test((error as Error).message)) return undefined;
    throw error;
  }
}
