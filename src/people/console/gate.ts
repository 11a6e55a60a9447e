import type { IncomingMessage } from "node:http";
import { type ConsoleLogins, mayAct, type Role, type User } from "./logins.js";
import { HttpRefusal } from "./route.js";

interface RequestGateOptions {
  readonly access: ConsoleLogins;
  readonly port: number;
  /** The address of a proxy with TLS before us: `https://console.example.org`. */
  readonly origin?: string;
}

/** Who may ask for what. Requests of foreign pages and under foreign host names are refused. */
export class RequestGate {
  readonly #access: ConsoleLogins;
  readonly #origins: ReadonlySet<string>;
  readonly #hosts: ReadonlySet<string>;
  readonly cookieName: string;

  constructor({ access, port, origin }: RequestGateOptions) {
    this.#access = access;
    const local = ["127.0.0.1", "localhost", "[::1]"].map((host) => `http://${host}:${port}`);
    this.#origins = new Set([...local, ...(origin === undefined ? [] : [origin])]);
    this.#hosts = new Set([...this.#origins].map((one) => new URL(one).host));
    // Cookies do not know ports: two consoles on one host need two names.
    this.cookieName = `hermes-console-${port}`;
  }

  /** Against DNS rebinding: only names that are ours. */
  checkHost({ headers }: IncomingMessage): void {
    if (!this.#hosts.has(headers.host?.toLowerCase() ?? ""))
      throw new HttpRefusal(421, "this is not the console that you asked for");
  }

  /** Metrics are for programs of this machine, not for requests through a proxy. */
  checkLocal({ headers }: IncomingMessage): void {
    if (!/^(127\.0\.0\.1|localhost|\[::1\]):\d+$/i.test(headers.host ?? "") || headers["x-forwarded-for"])
      throw new HttpRefusal(403, "only on this machine");
  }

  checkOrigin({ method, headers }: IncomingMessage): void {
    const { origin } = headers;
    const known = origin === undefined ? method === "GET" : this.#origins.has(origin);
    const site = headers["sec-fetch-site"];
    if (!known || (site !== undefined && site !== "same-origin"))
      throw new HttpRefusal(403, "this comes from another page");
    if (method === "POST" && !/^application\/json(;|$)/.test(headers["content-type"] ?? ""))
      throw new HttpRefusal(415, "only JSON is taken");
  }

  enter(request: IncomingMessage, role: Role): User {
    const user = this.#access.whoIs(this.proof(request));
    if (!user) throw new HttpRefusal(401, "log in with a link: hermes console link");
    if (!mayAct(user, role)) throw new HttpRefusal(403, `this is for ${role}s; you are ${user.role}`);
    return user;
  }

  proof({ headers }: IncomingMessage): { readonly cookie: string; readonly key: string } {
    const { cookie = "" } = headers;
    const own = cookie.split(/;\s*/).find((one) => one.startsWith(`${this.cookieName}=`));
    const key = headers["hermes-key"];
    return {
      cookie: own?.slice(this.cookieName.length + 1) ?? "",
      key: typeof key === "string" ? key : "",
    };
  }
}
