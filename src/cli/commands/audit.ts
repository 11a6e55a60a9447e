import { appendFileSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { HermesError } from "../../nouns/errors.js";
import { counted, escapeControl } from "../../nouns/text.js";
import { Audit } from "../../record/audit/audit.js";
import { AUDIT_COLUMNS, csvHeader, csvLine, jsonLine, readExport } from "../../record/audit/export.js";
import { readHead } from "../../record/audit/head.js";
import { fingerprint, makeKeys, readPublicKey } from "../../record/audit/keys.js";
import { bodyWords } from "../../record/audit/record-line.js";
import { AUDIT_KINDS } from "../../record/audit/records.js";
import { type ChainReport, verifyAll, verifyRows } from "../../record/audit/verify.js";
import { openStore } from "../../record/store/open.js";
import type { AuditFilter, AuditRow, Store } from "../../record/store/store.js";
import { choice, pointInTime, usageError, wholeNumber } from "../options/values.js";
import { renderAuditRow } from "../views/audit-record.js";
import { paint, print, say } from "../views/output.js";
import { counting } from "../views/progress.js";

interface StoreFlag {
  readonly store?: string;
}

export interface ChoiceFlags extends StoreFlag {
  readonly session?: string;
  readonly since?: string;
  readonly until?: string;
}

interface ShowFlags extends ChoiceFlags {
  readonly kind?: readonly string[];
  readonly grep?: string;
  readonly n: string;
  readonly follow?: boolean;
  readonly json?: boolean;
}

/** The polling interval of `--follow`. */
const LOOK = 300;

export async function auditShowCommand(flags: ShowFlags): Promise<number> {
  const count = wholeNumber("-n", flags.n);
  const filter: AuditFilter = {
    ...chosen(flags),
    ...(flags.kind && { kind: flags.kind.map((kind) => choice("--kind", kind, AUDIT_KINDS)) }),
  };
  const wanted = await matcher(flags.grep);
  const show = (row: AuditRow) =>
    print(flags.json ? `${JSON.stringify({ ...row, body: parsedBody(row) })}\n` : renderAuditRow(row));
  return withStore(flags, async (store) => {
    const seen = new Map((await store.chainEnds()).map(({ chain, seq }) => [chain, seq]));
    for await (const row of newest(store, filter, count, wanted)) {
      show(row);
      seen.set(row.chain, Math.max(row.seq, seen.get(row.chain) ?? 0));
    }
    while (flags.follow) {
      await sleep(LOOK);
      for (const { chain, seq } of await store.chainEnds()) {
        const after = seen.get(chain) ?? 0;
        if (seq <= after) continue;
        seen.set(chain, seq);
        for await (const row of store.audit({ ...filter, chain, after })) {
          if (wanted(row)) show(row);
          seen.set(chain, Math.max(row.seq, seq));
        }
      }
    }
    return 0;
  });
}

export function chosen({ session, since, until }: ChoiceFlags): AuditFilter {
  return {
    ...(session !== undefined && { session }),
    ...(since !== undefined && { since: pointInTime("--since", since) }),
    ...(until !== undefined && { until: pointInTime("--until", until) }),
  };
}

/** Of all hosts together, oldest first. With 0: everything, host by host. */
async function* newest(
  store: Store,
  filter: AuditFilter,
  count: number,
  wanted: (row: AuditRow) => boolean,
): AsyncGenerator<AuditRow> {
  if (count === 0) {
    for await (const row of store.audit(filter)) if (wanted(row)) yield row;
    return;
  }
  const found: AuditRow[] = [];
  for (const { chain } of await store.chainEnds()) {
    const last: AuditRow[] = [];
    const narrowed = wanted === everything ? { ...filter, chain, last: count } : { ...filter, chain };
    for await (const row of store.audit(narrowed))
      if (wanted(row)) {
        last.push(row);
        if (last.length > count) last.shift();
      }
    found.push(...last);
  }
  yield* found.sort((a, b) => a.time - b.time).slice(-count);
}

const everything = () => true;

async function matcher(pattern: string | undefined): Promise<(row: AuditRow) => boolean> {
  if (pattern === undefined) return everything;
  const { RE2JS } = await import("re2js");
  try {
    const compiled = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE | RE2JS.MULTILINE);
    return (row) => compiled.matcher(bodyWords(parsedBody(row))).find();
  } catch (error) {
    throw usageError(`--grep: "${pattern}" is not a regular expression: ${(error as Error).message}`);
  }
}

export function parsedBody({ body }: AuditRow): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

interface VerifyFlags extends StoreFlag {
  readonly file?: string;
  readonly key?: readonly string[];
  readonly head?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

export async function auditVerifyCommand(flags: VerifyFlags): Promise<number> {
  const reports = flags.file !== undefined ? await verifyFile(flags.file, flags) : await verifyStore(flags);
  if (flags.json) print(`${JSON.stringify({ chains: reports })}\n`);
  else print(reports.length === 0 ? "no records\n" : reports.map(verdict).join(""));
  return reports.some(({ broken }) => broken) ? 1 : 0;
}

async function verifyFile(file: string, flags: VerifyFlags): Promise<ChainReport[]> {
  const head = flags.head === undefined ? undefined : wantedHead(flags.head);
  return verifyRows(counting(readExport(file), "records"), { keys: publicKeys(flags.key ?? []), head });
}

async function verifyStore(flags: VerifyFlags): Promise<ChainReport[]> {
  return withStore(flags, async (store) => {
    const own = `${store.beside}.pub`;
    const keys = flags.key ? publicKeys(flags.key) : [readPublicKey(own)].filter((key) => key !== undefined);
    // Read before the records: records added meanwhile must not look like a mismatch with the head.
    const head = flags.head === undefined ? readHead(`${store.beside}.head`) : wantedHead(flags.head);
    if (flags.all) return verifyAll(store, keys);
    if (!head) say("hermes: there is no head file, so a removal of the last records cannot be detected\n");
    return verifyRows(counting(store.audit(), "records"), { keys, head, kept: await store.chains() });
  });
}

function wantedHead(file: string) {
  const head = readHead(file);
  if (!head) throw new HermesError("AUDIT", { message: `${file}: no such head file` });
  return head;
}

function publicKeys(files: readonly string[]) {
  return files.map((file) => {
    const key = readPublicKey(file);
    if (!key) throw new HermesError("AUDIT", { message: `${file}: no such key file` });
    return key;
  });
}

function verdict({ chain, records, end, signedFrom, broken }: ChainReport): string {
  const p = paint(1);
  const name = escapeControl(chain);
  if (broken) return `${name}: ${p("red", `BROKEN: ${broken.message}`)}\n`;
  const signed = signedFrom === null ? "not signed" : `signed from record ${signedFrom} on`;
  const count = counted(records, "record");
  return `${name}: ${p("green", "whole")}, ${count}, ${signed}, ends with ${end?.hash ?? "nothing"}\n`;
}

interface ExportFlags extends StoreFlag {
  readonly chain?: string;
  readonly csv?: boolean;
  readonly parquet?: string;
  readonly output?: string;
}

/** Written atomically. */
const PIECE = 64 * 1024;

export async function auditExportCommand({
  output,
  csv,
  parquet,
  chain,
  ...flags
}: ExportFlags): Promise<number> {
  return withStore(flags, async (store) => {
    if (parquet !== undefined) {
      const { writeParquet } = await import("../../offline/query/parquet.js");
      const rows = cellsOf(store.audit(chain === undefined ? {} : { chain }));
      say(`hermes: ${counted(await writeParquet(parquet, AUDIT_COLUMNS, rows), "record")} in ${parquet}\n`);
      return 0;
    }
    const write = output === undefined ? print : writerTo(output);
    let piece = csv ? csvHeader : "";
    for await (const row of store.audit(chain === undefined ? {} : { chain })) {
      piece += csv ? csvLine(row) : jsonLine(row);
      if (piece.length < PIECE) continue;
      write(piece);
      piece = "";
    }
    write(piece);
    return 0;
  });
}

async function* cellsOf(rows: AsyncIterable<AuditRow>) {
  for await (const row of rows) yield AUDIT_COLUMNS.map((name) => row[name]);
}

function writerTo(file: string): (text: string) => void {
  const guarded = <T>(act: () => T) => {
    try {
      return act();
    } catch (cause) {
      throw new HermesError("OUTPUT", { file, errno: (cause as NodeJS.ErrnoException).code! }, { cause });
    }
  };
  const fd = guarded(() => openSync(file, "w", 0o600));
  return (text) => guarded(() => appendFileSync(fd, text));
}

export async function auditKeygenCommand(flags: StoreFlag & { json?: boolean }): Promise<number> {
  const store = await openStore(flags.store);
  try {
    const files = makeKeys(store.beside);
    const print256 = fingerprint(readPublicKey(files.pub)!);
    const audit = Audit.open(store);
    const record = await audit.record("config", { what: "records are signed", detail: { key: print256 } });
    audit.close();
    if (flags.json) print(`${JSON.stringify({ ...files, fingerprint: print256, from: record.seq })}\n`);
    else
      print(
        `${files.key}  private key: signs records; keep it secret\n${files.pub}  public key: verifies records; keep a copy elsewhere\n` +
          `sha256 ${print256}, signed from record ${record.seq} on\n`,
      );
    return 0;
  } finally {
    await store.close();
  }
}

/** For read-only commands: a missing store is not created. */
export async function withStore<T>(flags: StoreFlag, act: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(flags.store, { mustExist: true });
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}
