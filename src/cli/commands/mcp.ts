import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import type { McpServerFactory } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { listenHttp } from "../../agents/mcp/http.js";
import { CallQuestions } from "../../agents/mcp/questions.js";
import { serverFactory } from "../../agents/mcp/server.js";
import { Toolbox } from "../../agents/tools/toolbox.js";
import { IterationBudget } from "../../intent/guard/delegation/budget.js";
import { escapeControl } from "../../nouns/text.js";
import { choice, usageError, wholeNumber, workspaceOption } from "../options/values.js";
import { say } from "../views/output.js";

interface McpFlags {
  readonly workspace?: string;
  readonly tools?: string;
  readonly profile?: string;
  readonly ask: string;
  readonly online?: boolean;
  readonly store?: string;
  readonly calls?: string;
  readonly http?: string | true;
  readonly tokenFile?: string;
}

/** Serves until the client or a signal ends it. stdout carries only the protocol. */
export async function mcpCommand(flags: McpFlags): Promise<number> {
  const ask = choice("--ask", flags.ask, ["client", "queue"]);
  const budget =
    flags.calls === undefined ? undefined : IterationBudget.of(wholeNumber("--calls", flags.calls));
  const questions = new CallQuestions();
  const toolbox = await Toolbox.open({
    ...workspaceOption(flags.workspace),
    agent: "hermes mcp",
    approvers: [questions],
    inForce: problem,
    problem,
    ...(flags.tools !== undefined && { tools: flags.tools.split(",").map((name) => name.trim()) }),
    ...(flags.profile !== undefined && {
      profile: choice("--profile", flags.profile, ["standard", "strict"]),
    }),
    ...(flags.online && { online: true }),
    ...(flags.store !== undefined && { store: flags.store }),
  });
  const factory = serverFactory({ toolbox, questions, ask, problem, ...(budget && { budget }) });
  try {
    if (flags.http !== undefined) await serveHttp(factory, flags);
    else await serveStreams(factory);
    return 0;
  } finally {
    await toolbox.close();
  }
}

async function serveStreams(factory: McpServerFactory): Promise<void> {
  const server = serveStdio(factory, { onerror: (error) => problem(error.message) });
  await Promise.race([ended(), once(process.stdin, "close"), once(process.stdin, "end")]);
  await server.close();
}

async function serveHttp(factory: McpServerFactory, { http, tokenFile }: McpFlags): Promise<void> {
  const [, host = "", port = ""] = /^(?:\[?([^\]]*?)\]?:)?(\d+)$/.exec(http === true ? "0" : http!) ?? [];
  if (port === "") throw usageError(`--http takes an address and a port, not "${http}"`);
  const token = tokenFile === undefined ? newToken() : keptToken(tokenFile);
  const listening = await listenHttp({
    factory,
    host: host || "127.0.0.1",
    port: Number(port),
    token,
    problem,
  });
  say(`hermes: listening on ${listening.url}\n`);
  if (tokenFile === undefined) say(`hermes: Authorization: Bearer ${token}\n`);
  await ended();
  await listening.close();
}

function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Created for this user alone if it is missing. A file that others can read is refused. */
function keptToken(file: string): string {
  try {
    writeFileSync(file, `${newToken()}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST")
      throw usageError(`--token-file ${file}: ${(error as Error).message}`);
  }
  if ((statSync(file).mode & 0o077) !== 0)
    throw usageError(`--token-file ${file}: it is readable by other users (run chmod 600 on it)`);
  const token = readFileSync(file, "utf8").trim();
  if (token.length < 16) throw usageError(`--token-file ${file}: a token has at least 16 characters`);
  return token;
}

function problem(text: string): void {
  say(`hermes: ${escapeControl(text)}\n`);
}

function ended(): Promise<unknown> {
  return Promise.race((["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => once(process, signal)));
}
