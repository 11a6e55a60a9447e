import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fleet } from "../../fleet/fleet.js";
import type { TraceStorage } from "../../fleet/trace-storage.js";
import type { Guard } from "../../intent/guard/guard.js";
import type { SkillStore } from "../../intent/guard/skills/store.js";
import { HermesError } from "../../nouns/errors.js";
import { PACKAGE_VERSION } from "../../nouns/version.js";
import type { OtlpClient } from "../../offline/export/otlp-client.js";
import type { Audit } from "../../record/audit/audit.js";
import type { Store } from "../../record/store/store.js";
import { AnswerService } from "../approval/answer-service.js";
import { AuditTail } from "./audit-tail.js";
import { Feed } from "./feed.js";
import { RequestGate } from "./gate.js";
import { type ConsoleLogins, LOGIN_MS } from "./logins.js";
import { Metrics } from "./metrics.js";
import { pageFile } from "./page-files.js";
import { PendingApprovals } from "./pending-approvals.js";
import { Reports } from "./reports.js";
import { HttpRefusal, type Route, signed } from "./route.js";
import { analysisRoutes } from "./routes/analysis.js";
import { approvalRoutes } from "./routes/approvals.js";
import { auditRoutes } from "./routes/audit.js";
import { fleetRoutes } from "./routes/fleet.js";
import { guardRoutes } from "./routes/guard.js";
import { policyRoutes } from "./routes/policies.js";
import { sessionRoutes } from "./routes/sessions.js";
import { skillRoutes } from "./routes/skills.js";
import type { Runs } from "./runs.js";
import { Telemetry } from "./telemetry.js";

interface ConsoleOptions {
  readonly store: Store;
  readonly audit: Audit;
  readonly access: ConsoleLogins;
  /** As hermes.yaml has it now. */
  readonly guard: () => Promise<Guard>;
  readonly skills: () => Promise<SkillStore>;
  readonly runs?: Runs;
  /** The report on a trace, as a page. */
  readonly report: (trace: string) => Promise<Buffer>;
  /** Policies that can be edited, besides those that a run has in force. */
  readonly policies?: readonly string[];
  /** Where tool calls are sent as spans. */
  readonly collector?: OtlpClient;
  /** Where there are many hosts. */
  readonly fleet?: Fleet;
  /** Where its hosts bring their traces. */
  readonly traces?: TraceStorage;
  /** Where answers for always are kept. */
  readonly userFile?: string;
  /** Of this machine: it speaks plain HTTP. */
  readonly host?: string;
  readonly port?: number;
  /** Of a proxy that brings TLS, for those who are elsewhere: `https://console.example.org`. */
  readonly origin?: string;
  readonly log?: (entry: LogEntry) => void;
}

export interface LogEntry {
  readonly level: "info" | "warn" | "error";
  readonly what: string;
  readonly [field: string]: unknown;
}

const BODY_AT_MOST = 256 * 1024;
const CONNECTIONS = 256;

const SAFE = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/**
 * READ FIRST for the console. One request: its Host must be ours; the page itself is public, it holds nothing; all
 * else must come from that page (`gate.ts`), from a user who is logged in (`logins.ts`) and has the role that the route
 * asks for (`route.ts`). What happens comes to the page by itself (`feed.ts`).
 */
export class Console {
  readonly #options: ConsoleOptions;
  readonly #server: Server;
  readonly #feed = new Feed();
  readonly #pending: PendingApprovals;
  readonly #tail: AuditTail;
  readonly #telemetry: Telemetry | undefined;
  readonly #metrics = new Metrics();
  readonly #reports = new Reports();
  readonly #routes: ReadonlyMap<string, Route>;
  #gate!: RequestGate;
  #url = "";

  static async open(options: ConsoleOptions): Promise<Console> {
    const { host = "127.0.0.1", port = 0 } = options;
    if (!/^(127\.0\.0\.1|::1|localhost)$/.test(host))
      throw new HermesError("USAGE", {
        message: `the console speaks plain HTTP and so listens on this machine only, not on ${host}; for others put a proxy with TLS before it (--origin)`,
      });
    const opened = new Console(options);
    await opened.#listen(host, port);
    return opened;
  }

  private constructor(options: ConsoleOptions) {
    const { store, audit, guard, skills, runs, policies = [], report, collector, userFile, fleet } = options;
    this.#options = options;
    const answers = new AnswerService({ store, audit, ...(userFile !== undefined && { userFile }) });
    this.#pending = new PendingApprovals(store, answers, this.#feed, (error) =>
      this.#failed("approvals", error),
    );
    const routes = [
      ...analysisRoutes(this.#reports, report, runs),
      ...approvalRoutes(store, answers, () => this.#pending.look()),
      ...auditRoutes(store, guard),
      ...(fleet ? fleetRoutes(fleet, audit, this.#reports, report, options.traces) : []),
      ...guardRoutes(guard),
      ...policyRoutes({ store, audit, files: policies, ...(runs && { runs }) }),
      ...sessionRoutes(store, runs, audit),
      ...skillRoutes(skills, audit),
    ];
    this.#telemetry = collector && new Telemetry(collector, (error) => this.#failed("telemetry", error));
    this.#tail = new AuditTail(
      store,
      (rows) => {
        for (const row of rows) this.#metrics.count(row);
        this.#telemetry?.take(rows);
        this.#feed.mention("records", { count: rows.length });
      },
      (error) => this.#failed("audit", error),
    );
    this.#routes = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
    this.#server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (request, response) => {
      void this.#serve(request, response);
    });
    this.#server.maxConnections = CONNECTIONS;
  }

  get url(): string {
    return this.#url;
  }

  async close(): Promise<void> {
    this.#feed.close();
    await this.#pending.close();
    await this.#tail.close();
    await this.#telemetry?.close();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #listen(host: string, port: number): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        this.#server.once("error", reject);
        this.#server.listen(port, host, resolve);
      });
    } catch (cause) {
      await this.close();
      const { code = "" } = cause as NodeJS.ErrnoException;
      const message = `cannot listen on ${host}:${port}: ${code}; choose another with --listen`;
      throw new HermesError("USAGE", { message }, { cause });
    }
    this.#server.on("error", (error) => this.#failed("server", error));
    const at = this.#server.address() as AddressInfo;
    const { access, origin } = this.#options;
    this.#url = `http://${at.family === "IPv6" ? `[${at.address}]` : at.address}:${at.port}`;
    this.#gate = new RequestGate({ access, port: at.port, ...(origin !== undefined && { origin }) });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.now();
    const { pathname, searchParams } = asked(request);
    for (const [name, value] of Object.entries(SAFE)) response.setHeader(name, value);
    let who: string | undefined;
    try {
      this.#gate.checkHost(request);
      const file = request.method === "GET" ? pageFile(pathname) : undefined;
      const report = request.method === "GET" ? this.#reports.page(pathname) : undefined;
      if (report)
        response
          .setHeader("content-security-policy", report.policy)
          .writeHead(200, { "content-type": "text/html; charset=utf-8" })
          .end(report.page);
      else if (file) response.writeHead(200, { "content-type": file.type }).end(file.bytes);
      else if (request.method === "GET" && ["/healthz", "/metrics"].includes(pathname)) {
        this.#gate.checkLocal(request);
        await this.#numbers(response, pathname);
      } else if (!pathname.startsWith("/api/")) throw new HttpRefusal(404, "there is nothing here");
      else {
        this.#gate.checkOrigin(request);
        who = await this.#api(request, response, pathname, searchParams);
      }
    } catch (error) {
      this.#refuse(response, pathname, error);
    }
    this.#metrics.answered(response.statusCode);
    this.#options.log?.({
      level: response.statusCode < 400 ? "info" : response.statusCode < 500 ? "warn" : "error",
      what: "request",
      method: request.method,
      // The address of a report is a secret.
      path: pathname.replace(/^\/report\/.*/s, "/report/…"),
      status: response.statusCode,
      ms: Math.round(performance.now() - began),
      ...(who !== undefined && { who }),
    });
  }

  /** For programs that watch over this one: numbers, and whether the store can be read. */
  async #numbers(response: ServerResponse, path: string): Promise<void> {
    const { store } = this.#options;
    try {
      if (path === "/healthz") await store.sessions({ limit: 1 });
      else {
        const text = await this.#metrics.text(store, {
          pending: this.#pending.size,
          pages: this.#feed.clients,
          runs: (await this.#options.runs?.list()) ?? [],
        });
        response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(text);
        return;
      }
    } catch (error) {
      this.#failed("store", error);
      json(response, 503, { status: "the store cannot be read" });
      return;
    }
    json(response, 200, { status: "ok", version: PACKAGE_VERSION, store: store.engine });
  }

  /** Returns who it was. */
  async #api(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: URLSearchParams,
  ): Promise<string | undefined> {
    if (path === "/api/login" && request.method === "POST") return this.#login(request, response);
    const route = this.#routes.get(`${request.method} ${path}`);
    const user = this.#gate.enter(request, route?.role ?? "viewer");
    if (path === "/api/me") json(response, 200, user);
    else if (path === "/api/logout" && request.method === "POST") {
      this.#options.access.logout(this.#gate.proof(request));
      response.setHeader("set-cookie", `${this.#gate.cookieName}=; Path=/; Max-Age=0`);
      json(response, 200, {});
    } else if (path === "/api/feed" && request.method === "GET") this.#follow(request, response);
    else if (!route) throw new HttpRefusal(404, "there is nothing here");
    else {
      const body = route.method === "POST" ? await jsonBody(request) : {};
      json(response, 200, await route.handle({ user, query, body }));
    }
    return signed(user);
  }

  async #login(request: IncomingMessage, response: ServerResponse): Promise<string> {
    const { link } = await jsonBody(request);
    const login = typeof link === "string" ? this.#options.access.login(link) : undefined;
    if (!login)
      throw new HttpRefusal(401, "this link was used already, or its time is over: hermes console link");
    const { user, cookie, key } = login;
    // Recorded before it counts.
    await this.#options.audit.record("config", {
      what: "console: logged in",
      by: signed(user),
      detail: { role: user.role },
    });
    const secure = request.headers.origin?.startsWith("https:") ? "; Secure" : "";
    response.setHeader(
      "set-cookie",
      `${this.#gate.cookieName}=${cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${LOGIN_MS / 1000}${secure}`,
    );
    json(response, 200, { ...user, key });
    return signed(user);
  }

  #follow(request: IncomingMessage, response: ServerResponse): void {
    const seen = request.headers["last-event-id"];
    const now = () => [this.#pending.snapshot()];
    if (!this.#feed.attach(response, typeof seen === "string" ? seen : undefined, now))
      throw new HttpRefusal(503, "too many pages are open");
  }

  #refuse(response: ServerResponse, path: string, error: unknown): void {
    const known = error instanceof HttpRefusal || error instanceof HermesError;
    if (!known) this.#failed(path, error);
    const status = error instanceof HttpRefusal ? error.status : known ? 400 : 500;
    if (response.headersSent) response.destroy();
    else json(response, status, { error: known ? (error as Error).message : "it could not be done" });
  }

  #failed(what: string, error: unknown): void {
    this.#options.log?.({ level: "error", what, error: (error as Error).message });
  }
}

/** `//` and the like are no addresses, and lead nowhere. */
function asked({ url = "/" }: IncomingMessage): Pick<URL, "pathname" | "searchParams"> {
  const base = "http://console";
  return URL.canParse(url, base) ? new URL(url, base) : { pathname: "", searchParams: new URLSearchParams() };
}

async function jsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  let body = "";
  for await (const piece of request.setEncoding("utf8")) {
    body += piece;
    if (body.length > BODY_AT_MOST) throw new HttpRefusal(413, "this is too long");
  }
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new HttpRefusal(400, "this is not JSON");
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(`${JSON.stringify(body)}\n`);
}
