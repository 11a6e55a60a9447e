import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { HermesError } from "../../nouns/errors.js";
import type { AnswerService } from "./answer-service.js";
import { readToken } from "./token.js";

interface AnswerServerOptions {
  readonly answers: AnswerService;
  readonly secret: string;
  /** Recorded as who answered. */
  readonly by: string;
  /** Of this machine: it speaks plain HTTP. A proxy in front of it brings TLS. */
  readonly host?: string;
  readonly port?: number;
}

export interface AnswerServer {
  readonly url: string;
  close(): Promise<void>;
}

const BODY_AT_MOST = 8192;

/** Takes answers by token: `POST /` with `{"token": "…", "note": "…"}`. A GET changes nothing: mail programs and chats fetch links. */
export async function serveAnswers(options: AnswerServerOptions): Promise<AnswerServer> {
  const { host = "127.0.0.1", port = 0 } = options;
  if (!/^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host))
    throw new HermesError("USAGE", { message: `answers are taken on this machine only, not on ${host}` });
  const server = createServer({ requestTimeout: 5000, headersTimeout: 5000 }, (request, response) => {
    answer(request, options).then(
      ([status, body]) => reply(response, status, body),
      () => reply(response, 500, { error: "it could not be answered" }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const at = server.address() as AddressInfo;
  return {
    url: `http://${at.family === "IPv6" ? `[${at.address}]` : at.address}:${at.port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  { answers, secret, by }: AnswerServerOptions,
): Promise<readonly [status: number, body: object]> {
  if (request.method !== "POST") return [405, { error: "POST a token" }];
  const given = await jsonBody(request);
  if (typeof given?.token !== "string") return [400, { error: "there is no token" }];
  try {
    const token = readToken(secret, given.token);
    const note = typeof given.note === "string" ? { note: given.note.slice(0, 1000) } : {};
    const { mine, item, told } = await answers.answer(token.id, { answer: token.answer, by, ...note });
    const { id, state, scope } = item;
    return [mine ? 200 : 409, { id, state, scope, ...(told !== undefined && { told }) }];
  } catch (error) {
    if (error instanceof HermesError && error.code === "APPROVAL") return [403, { error: error.message }];
    throw error;
  }
}

async function jsonBody(request: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) {
    text += piece;
    if (text.length > BODY_AT_MOST) return undefined;
  }
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(`${JSON.stringify(body)}\n`);
}
