import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { loadConfig, userFile } from "../../intent/guard/config/load.js";
import { HermesError } from "../../nouns/errors.js";
import { type Answer, answerFor } from "../../people/approval/answer.js";
import { serveAnswers } from "../../people/approval/answer-server.js";
import { type Answered, AnswerService, type GivenAnswer } from "../../people/approval/answer-service.js";
import { type ApprovalItem, itemOf } from "../../people/approval/approval-item.js";
import { readSecret, readToken } from "../../people/approval/token.js";
import { Audit } from "../../record/audit/audit.js";
import { openStore } from "../../record/store/open.js";
import type { ApprovalRow, Store } from "../../record/store/store.js";
import { choice, usageError } from "../options/values.js";
import { userName } from "../run/terminal-approver.js";
import { itemDetail, itemLines, lastingLines } from "../views/approval.js";
import { print } from "../views/output.js";
import { watch } from "./approvals-watch.js";

interface ApprovalFlags {
  readonly store?: string;
  readonly json?: boolean;
  readonly all?: boolean;
  readonly session?: string;
  readonly scope?: string;
  readonly note?: string;
  readonly listen?: string;
}

interface Opened {
  readonly store: Store;
  readonly desk: AnswerService;
}

export async function approvalsListCommand(flags: ApprovalFlags): Promise<number> {
  return withService(flags, async ({ store, desk }) => {
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

export async function approvalsShowCommand(id: string, flags: ApprovalFlags): Promise<number> {
  return withService(flags, async ({ store, desk }) => {
    await desk.sweep();
    const item = itemOf(await find(store, id));
    print(flags.json ? `${JSON.stringify(item)}\n` : itemDetail(item));
    return 0;
  });
}

const YOURS_MS = 120_000;

/** Exits 1 when nothing waits. */
export async function approvalsNextCommand(flags: ApprovalFlags): Promise<number> {
  return withService(flags, async ({ store, desk }) => {
    await desk.sweep();
    const now = Date.now();
    const row = await store.claim(`cli:${userName()}:${process.ppid}`, now, now + YOURS_MS);
    if (flags.json) print(`${JSON.stringify(row ? itemOf(row) : null)}\n`);
    else print(row ? itemDetail(itemOf(row)) : "Nothing waits for an answer.\n");
    return row ? 0 : 1;
  });
}

const SCOPES = ["once", "session", "always"] as const;

export async function approvalsApproveCommand(id: string, flags: ApprovalFlags): Promise<number> {
  return answer(id, answerFor(true, choice("--scope", flags.scope ?? "once", SCOPES)), flags);
}

export async function approvalsDenyCommand(id: string, flags: ApprovalFlags): Promise<number> {
  return answer(id, answerFor(false, choice("--scope", flags.scope ?? "once", SCOPES)), flags);
}

/** The answers that hold for always, of every session. */
export async function alwaysCommand(flags: ApprovalFlags): Promise<number> {
  return withService(flags, async ({ desk }) => {
    const all = await desk.lasting();
    if (flags.json) print(`${JSON.stringify(all)}\n`);
    else print(all.length === 0 ? "No answer holds for always.\n" : all.map(lastingLines).join(""));
    return 0;
  });
}

export async function revokeCommand(id: string, flags: ApprovalFlags): Promise<number> {
  return withService(flags, async ({ desk }) => {
    const revoked = await desk.revoke(id, `cli:${userName()}`);
    print(flags.json ? `${JSON.stringify(revoked)}\n` : `revoked: ${lastingLines(revoked)}`);
    return 0;
  });
}

function answer(id: string, given: Answer, flags: ApprovalFlags): Promise<number> {
  return withService(flags, async ({ store, desk }) => {
    const row = await find(store, id);
    return report(await desk.answer(row.id, said(given, `cli:${userName()}`, flags)), flags);
  });
}

export async function approvalsWatchCommand(flags: ApprovalFlags): Promise<number> {
  return withService(flags, (opened) => watch(opened, flags.json === true));
}

export async function approvalsTokenCommand(given: string, flags: ApprovalFlags): Promise<number> {
  const text = given === "-" ? readFileSync(0, "utf8") : given;
  const { secret, by } = webhook();
  const token = readToken(secret, text);
  return withService(flags, async ({ desk }) =>
    report(await desk.answer(token.id, said(token.answer, by, flags)), flags),
  );
}

export async function approvalsServeCommand(flags: ApprovalFlags): Promise<number> {
  const [, host, port] = /^(?:\[?([^\]]+)\]?):(\d{1,5})$/.exec(flags.listen ?? "") ?? [];
  if (host === undefined) throw usageError(`--listen takes an address and a port such as 127.0.0.1:8088`);
  return withService(flags, async ({ desk }) => {
    const server = await serveAnswers({ answers: desk, ...webhook(), host, port: Number(port) });
    print(flags.json ? `${JSON.stringify({ url: server.url })}\n` : `answers are taken at ${server.url}\n`);
    await new Promise((ended) => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, ended);
    });
    await server.close();
    return 0;
  });
}

/** The secret of tokens, and the name that their answers are recorded with. */
function webhook(): { readonly secret: string; readonly by: string } {
  const { webhook: section } = loadConfig(places()).config.approvals;
  if (!section) throw usageError("hermes.yaml names no webhook (approvals.webhook), so there are no tokens");
  return { secret: readSecret(section.secret_file), by: `webhook:${new URL(section.url).host}` };
}

function places() {
  return { workspace: resolve("."), home: homedir(), env: process.env };
}

async function withService(flags: ApprovalFlags, act: (opened: Opened) => Promise<number>): Promise<number> {
  const store = await openStore(flags.store);
  const audit = Audit.open(store);
  try {
    return await act({ store, desk: new AnswerService({ store, audit, userFile: userFile(places()) }) });
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
