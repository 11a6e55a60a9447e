import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type IncomingHttpHeaders, request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import type { Place } from "../../agents/tools/place.js";
import { HERMES } from "../../support/cli.js";
import { root } from "../../support/root.js";

export interface Served {
  readonly url: string;
  readonly port: number;
  /** By name. */
  readonly links: Readonly<Record<string, string>>;
  readonly log: string[];
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of running) await end(child);
});

/** The real console, in a process of its own, for alice (admin), anna (approver) and victor (viewer). */
export async function serve(
  { store, home, workspace }: Place,
  port = 0,
  more: readonly string[] = [],
): Promise<Served> {
  const users = ["alice:admin", "anna:approver", "victor:viewer"].flatMap((user) => ["--user", user]);
  const words = ["console", "--json", "--log", "json", "--store", store, "--listen", `127.0.0.1:${port}`];
  const child = spawn(HERMES, [...words, ...users, ...more], {
    cwd: workspace,
    env: { ...process.env, HOME: home, HERMES_HOME: home },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  const log: string[] = [];
  createInterface({ input: child.stderr! }).on("line", (line) => log.push(line));
  const first = await Promise.race([
    once(createInterface({ input: child.stdout! }), "line"),
    once(child, "exit").then(() => Promise.reject(new Error(`it ended: ${log.join("\n")}`))),
  ]);
  const told = JSON.parse(first[0] as string) as { url: string; links: { name: string; link: string }[] };
  return {
    url: told.url,
    port: Number(new URL(told.url).port),
    links: Object.fromEntries(told.links.map(({ name, link }) => [name, link])),
    log,
    stop: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  running.delete(child);
}

/** A person at a browser; `trouble` is what the page complained of. */
export interface Visitor {
  readonly page: Page;
  readonly trouble: string[];
  readonly requests: string[];
}

let browser: Browser | undefined;

/** Call it in the file: its browser is closed with it. */
export function useBrowser(): void {
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  });
  afterEach(async () => {
    for (const context of browser!.contexts()) await context.close();
  });
  afterAll(() => browser?.close());
}

export async function visit(
  link: string,
  { width = 1280, height = 800, dark = false }: { width?: number; height?: number; dark?: boolean } = {},
): Promise<Visitor> {
  const colorScheme = dark ? "dark" : "light";
  const context = await browser!.newContext({ viewport: { width, height }, colorScheme });
  context.setDefaultTimeout(100_000);
  const page = await context.newPage();
  const [trouble, requests]: [string[], string[]] = [[], []];
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
  page.on("request", (one) => requests.push(one.url()));
  await page.goto(link);
  return { page, trouble, requests };
}

/** Rewrites the pictures in docs/: HERMES_SCREENSHOTS=1 npm test -- test/people/console */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.HERMES_SCREENSHOTS === "1")
    await page.screenshot({ path: join(root, "docs/images", `console-${name}.png`) });
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at any field
  readonly body: any;
}

/** A request as any program could make it, with any headers. */
export function ask(
  { port }: { readonly port: number },
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, method, path, headers }, async (response) => {
      let text = "";
      for await (const piece of response.setEncoding("utf8")) text += piece;
      const isJson = response.headers["content-type"] === "application/json";
      resolve({
        status: response.statusCode!,
        headers: response.headers,
        body: isJson ? JSON.parse(text) : text,
      });
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

/** What the page sends, by hand: the headers of a person who has used a link. */
export async function enter(console: Served, name: string): Promise<Record<string, string>> {
  const link = new URL(console.links[name]!).hash.slice("#login=".length);
  const own = { origin: console.url, "content-type": "application/json" };
  const reply = await ask(console, "POST", "/api/login", own, JSON.stringify({ link }));
  if (reply.status !== 200) throw new Error(`login: ${reply.status} ${reply.body.error}`);
  const cookie = reply.headers["set-cookie"]![0]!.split(";")[0]!;
  return { ...own, cookie, "hermes-key": reply.body.key };
}
