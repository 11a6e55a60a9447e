import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { HermesError } from "../../nouns/errors.js";

interface HttpOptions {
  readonly factory: McpServerFactory;
  /** A loopback address; port 0 takes a free one. */
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly problem?: (text: string) => void;
}

interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

const PATH = "/mcp";
const MOST_SESSIONS = 64;

/**
 * The same server over HTTP, for programs of this machine that have the token. A page in a browser does not have the token;
 * after DNS rebinding it does not have our host name either.
 */
export async function listenHttp({ factory, host, port, token, problem }: HttpOptions): Promise<Listening> {
  if (!/^(127(\.\d{1,3}){3}|::1|localhost)$/.test(host))
    throw new HermesError("USAGE", {
      message: `${host} is not a loopback address: use 127.0.0.1`,
    });
  const serving = new Serving(factory, problem);
  const server: HttpServer = createServer((request, response) => {
    const refused = whyNot(request, server, token);
    if (refused) return void response.writeHead(refused.status, refused.headers).end(`${refused.text}\n`);
    void answer(request, response, (web) => serving.answer(web)).catch((error) => {
      problem?.(`mcp: ${(error as Error).message}`);
      response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${bound}${PATH}`,
    close: async () => {
      await serving.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Refused {
  readonly status: number;
  readonly text: string;
  readonly headers?: Record<string, string>;
}

function whyNot({ headers, url }: IncomingMessage, server: HttpServer, token: string): Refused | undefined {
  const { address, port } = server.address() as AddressInfo;
  const ours = [address, "localhost", `[${address}]`].map((name) => `${name}:${port}`);
  const { host = "", origin } = headers;
  if (!ours.includes(host)) return { status: 421, text: "wrong Host header" };
  if (origin !== undefined && !ours.some((name) => origin === `http://${name}`))
    return { status: 403, text: "cross-origin requests are refused" };
  const [scheme, given = ""] = (headers.authorization ?? "").split(" ");
  if (scheme?.toLowerCase() !== "bearer" || !same(given, token))
    return { status: 401, text: "the token is missing or wrong", headers: { "www-authenticate": "Bearer" } };
  return new URL(url ?? "/", "http://here").pathname === PATH
    ? undefined
    : { status: 404, text: `not found: the only path is ${PATH}` };
}

/** Constant time. */
function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** Clients since 2026 send everything in every request; older ones have a session, in which the server can ask. */
class Serving {
  readonly #factory: McpServerFactory;
  readonly #modern: ReturnType<typeof createMcpHandler>;
  readonly #sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

  constructor(factory: McpServerFactory, problem: HttpOptions["problem"]) {
    this.#factory = factory;
    const onerror = (error: Error) => problem?.(`mcp: ${error.message}`);
    this.#modern = createMcpHandler(factory, { legacy: "reject", onerror });
  }

  async answer(request: Request): Promise<Response> {
    if (!(await isLegacyRequest(request))) return this.#modern.fetch(request);
    const id = request.headers.get("mcp-session-id");
    const known = id === null ? undefined : this.#sessions.get(id);
    if (id !== null && !known) return new Response("no such session\n", { status: 404 });
    return (known ?? (await this.#begin())).handleRequest(request);
  }

  async #begin(): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        this.#sessions.set(id, transport);
        const [oldest] = this.#sessions.keys();
        if (this.#sessions.size > MOST_SESSIONS) void this.#end(oldest!);
      },
      onsessionclosed: (id) => this.#end(id),
    });
    const server = await this.#factory({ era: "legacy" });
    await server.connect(transport);
    return transport;
  }

  async #end(id: string): Promise<void> {
    const transport = this.#sessions.get(id);
    this.#sessions.delete(id);
    await transport?.close();
  }

  async close(): Promise<void> {
    await this.#modern.close();
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)));
  }
}

/** Converts Node's request and response to the web API's. When the client disconnects, its request is aborted. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  respond: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const body =
    request.method === "POST" ? (Readable.toWeb(request) as unknown as ReadableStream<Uint8Array>) : null;
  const web = new Request(`http://${request.headers.host}${request.url}`, {
    method: request.method ?? "GET",
    headers: Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
    body,
    signal: gone.signal,
    ...(body && { duplex: "half" }),
  });
  const { status, headers, body: stream } = await respond(web);
  response.writeHead(status, Object.fromEntries(headers));
  if (!stream) return void response.end();
  response.flushHeaders();
  await pipeline(Readable.fromWeb(stream as ReadableStream), response).catch(() => {}); // the client disconnected
}
