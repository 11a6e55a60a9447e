import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { serveAnswers } from "../approval/answer-server.js";
import { type Answered, Desk, type GivenAnswer } from "../approval/desk.js";
import { type ApprovalItem, itemOf } from "../approval/item.js";
import type { Answer } from "../approval/question.js";
import { readSecret, readToken } from "../approval/token.js";
import { Audit } from "../audit/audit.js";
import { HermesError } from "../errors.js";
import { loadConfig, userFile } from "../guard/config/load.js";
import { openStore } from "../store/open.js";
import type { ApprovalRow, Store } from "../store/store.js";
import { itemDetail, itemLines } from "./approval-view.js";
import { userName } from "./ask.js";
import { print } from "./output.js";
import { choice, usage } from "./values.js";
import { watch } from "./watch.js";

export interface ApprovalFlags {
  readonly store?: string;
  readonly json?: boolean;
  readonly all?: boolean;
  readonly session?: string;
  readonly scope?: string;
  readonly note?: string;
  readonly listen?: string;
}

export interface Office {
  readonly store: Store;
  readonly desk: Desk;
}

export async function listCommand(flags: ApprovalFlags): Promise<number> {
  return inOffice(flags, async ({ store, desk }) => {
    await desk.sweep();
    const rows = await store.approvals({
      ...(!flags.all && { state: ["pending"] as const }),
      ...(flags.session !== undefined && { session: flags.session }),
    });
    if (flags.json) print(`${JSON.stringify(rows.map(itemOf))}\n`);
    else if (rows.length === 0)
      print(flags.all ? "There were no approvals.\n" : "Nothing waits for an answer.\n");
    else for (const row of rows) print(itemLines(itemOf(row)));
    return 0;
  });
}

export async function showCommand(id: string, flags: ApprovalFlags): Promise<number> {
  return inOffice(flags, async ({ store, desk }) => {
    await desk.sweep();
    const item = itemOf(await find(store, id));
    print(flags.json ? `${JSON.stringify(item)}\n` : itemDetail(item));
    return 0;
  });
}

const YOURS_MS = 120_000;

/** Exits 1 when nothing waits. */
export async function nextCommand(flags: ApprovalFlags): Promise<number> {
  return inOffice(flags, async ({ store, desk }) => {
    await desk.sweep();
    const now = Date.now();
    const row = await store.claim(`cli:${userName()}:${process.ppid}`, now, now + YOURS_MS);
    if (flags.json) print(`${JSON.stringify(row ? itemOf(row) : null)}\n`);
    else print(row ? itemDetail(itemOf(row)) : "Nothing waits for an answer.\n");
    return row ? 0 : 1;
  });
}

export async function approveCommand(id: string, flags: ApprovalFlags): Promise<number> {
  return answer(id, choice("--scope", flags.scope ?? "once", ["once", "session", "always"]), flags);
}

export async function denyCommand(id: string, flags: ApprovalFlags): Promise<number> {
  return answer(id, "no", flags);
}

function answer(id: string, given: Answer, flags: ApprovalFlags): Promise<number> {
  return inOffice(flags, async ({ store, desk }) => {
    const row = await find(store, id);
    return report(await desk.answer(row.id, said(given, `cli:${userName()}`, flags)), flags);
  });
}

export async function watchCommand(flags: ApprovalFlags): Promise<number> {
  return inOffice(flags, (office) => watch(office, flags.json === true));
}

export async function tokenCommand(given: string, flags: ApprovalFlags): Promise<number> {
  const text = given === "-" ? readFileSync(0, "utf8") : given;
  const { secret, by } = webhook();
  const token = readToken(secret, text);
  return inOffice(flags, async ({ desk }) =>
    report(await desk.answer(token.id, said(token.answer, by, flags)), flags),
  );
}

export async function serveCommand(flags: ApprovalFlags): Promise<number> {
  const [, host, port] = /^(?:\[?([^\]]+)\]?):(\d{1,5})$/.exec(flags.listen ?? "") ?? [];
  if (host === undefined) throw usage(`--listen takes an address and a port such as 127.0.0.1:8088`);
  return inOffice(flags, async ({ desk }) => {
    const server = await serveAnswers({ desk, ...webhook(), host, port: Number(port) });
    print(flags.json ? `${JSON.stringify({ url: server.url })}\n` : `answers are taken at ${server.url}\n`);
    await new Promise((ended) => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, ended);
    });
    await server.close();
    return 0;
  });
}

/** What signs tokens, and who answers with one. */
function webhook(): { readonly secret: string; readonly by: string } {
  const { webhook: section } = loadConfig(places()).config.approvals;
  if (!section) throw usage("hermes.yaml names no webhook (approvals.webhook), so there are no tokens");
  return { secret: readSecret(section.secret_file), by: `webhook:${new URL(section.url).host}` };
}

function places() {
  return { workspace: resolve("."), home: homedir(), env: process.env };
}

async function inOffice(flags: ApprovalFlags, act: (office: Office) => Promise<number>): Promise<number> {
  const store = await openStore(flags.store);
  const audit = Audit.open(store);
  try {
    return await act({ store, desk: new Desk({ store, audit, userFile: userFile(places()) }) });
  } finally {
    audit.close();
    await store.close();
  }
}

function said(given: Answer, by: string, { note }: ApprovalFlags): GivenAnswer {
  return { answer: given, by, ...(note !== undefined && { note }) };
}

/** By the beginning of its id, when there is only one such. */
async function find(store: Store, id: string): Promise<ApprovalRow> {
  const wrong = (message: string) => new HermesError("APPROVAL", { id, message });
  if (!/^[0-9a-f]{1,64}$/.test(id)) throw wrong("an id is made of 0-9 and a-f");
  const exact = await store.approval(id);
  if (exact) return exact;
  const begins = (row: ApprovalRow) => row.id.startsWith(id);
  const open = (await store.approvals({ state: ["pending"] })).filter(begins);
  const rows = open.length > 0 ? open : (await store.approvals()).filter(begins);
  if (rows.length > 1) throw wrong(`there are ${rows.length} that begin so: say more of it`);
  if (!rows[0]) throw wrong("there is no such approval");
  return rows[0];
}

function report({ mine, item, told }: Answered, flags: ApprovalFlags): number {
  if (flags.json) print(`${JSON.stringify({ mine, item, ...(told !== undefined && { told }) })}\n`);
  else print(`${outcome(item, mine)}${told === undefined ? "" : `: ${told}`}\n`);
  return mine ? 0 : 1;
}

function outcome({ id, state, scope }: ApprovalItem, mine: boolean): string {
  if (!mine) return `${id.slice(0, 8)} is not changed`;
  return `${id.slice(0, 8)} is ${state}${scope === null ? "" : ` (${scope})`}`;
}
