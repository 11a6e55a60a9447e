import { once } from "node:events";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { Audit } from "../audit/audit.js";
import { Access, ROLES, type User } from "../console/access.js";
import { Console, type LogEntry } from "../console/server.js";
import { OtlpClient } from "../export/otlp-client.js";
import { Fleet } from "../fleet/fleet.js";
import { placeOf } from "../fleet/place.js";
import { Warden } from "../fleet/warden.js";
import { userFile } from "../guard/config/load.js";
import { configuredGuard } from "../guard/host.js";
import { SkillStore } from "../guard/skills/store.js";
import { serveHooks } from "../hooks/serve.js";
import { openStore } from "../store/open.js";
import type { Store } from "../store/store.js";
import { harmless } from "../text.js";
import { userName } from "./ask.js";
import { print, say } from "./output.js";
import { reportPage } from "./report-page.js";
import { MachineRuns } from "./runs.js";
import { skillFolder, skillScanner } from "./skill.js";
import { choice, usage } from "./values.js";

export interface ConsoleFlags {
  readonly listen: string;
  readonly origin?: string;
  readonly user?: readonly string[];
  readonly policy?: readonly string[];
  readonly otlp?: string;
  readonly store?: string;
  readonly log?: string;
  readonly json?: boolean;
  readonly traces?: string;
}

const GUARD_MS = 2000;

/** The same for all hosts of a fleet, with somebody who watches over what is given out to them. */
export async function serveCommand(flags: ConsoleFlags): Promise<number> {
  const fleet = await Fleet.open(flags.store);
  try {
    return await consoleCommand(flags, fleet);
  } finally {
    await fleet.close();
  }
}

/** Serves until a signal ends it. */
export async function consoleCommand(flags: ConsoleFlags, fleet?: Fleet): Promise<number> {
  const { host, port } = addressOf(flags.listen);
  const log = logger(choice("--log", flags.log ?? "text", ["text", "json"]));
  const origin = flags.origin === undefined ? undefined : originOf(flags.origin);
  const users = (flags.user ?? [`${userName()}:admin`]).map(userOf);
  const store = await openStore(flags.store);
  const audit = Audit.open(store);
  const access = accessOf(store);
  try {
    const console = await Console.open({
      store,
      audit,
      access,
      host,
      port,
      log,
      guard: cached(() => configuredGuard()),
      skills: async () => new SkillStore(skillFolder(), await skillScanner()),
      runs: new MachineRuns(),
      policies: flags.policy ?? [],
      report: reportPage,
      // What holds for always on a host stands in its own file: from here it is given once, or for a session.
      ...(fleet
        ? { fleet }
        : { userFile: userFile({ workspace: resolve("."), home: homedir(), env: process.env }) }),
      ...(flags.traces !== undefined && { traces: placeOf(flags.traces) }),
      ...(origin !== undefined && { origin }),
      ...(flags.otlp !== undefined && { collector: new OtlpClient(flags.otlp) }),
    });
    // Hooks of agents that would have to load everything first ask here instead (docs/hooks.md).
    const hooks = flags.store === undefined && !fleet ? await serveHooks(store, process.env) : undefined;
    const warden = fleet && watchOver(fleet, audit, log);
    tell(users, access, origin ?? console.url, flags.json);
    await Promise.race((["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => once(process, signal)));
    hooks?.close();
    await warden?.close();
    await console.close();
    return 0;
  } finally {
    audit.close();
    await store.close();
  }
}

function watchOver(fleet: Fleet, audit: Audit, log: (entry: LogEntry) => void): Warden {
  return new Warden({
    fleet,
    log: (error) => log({ level: "error", what: "fleet", error }),
    takenBack: async ({ name, serial, why }) => {
      await audit.record("config", {
        what: `fleet: policy ${serial} (${name}) was taken back: ${why}`,
        by: "hermes",
      });
    },
  });
}

/** Whoever types asks often; whoever edits hermes.yaml waits a moment. */
function cached<T>(make: () => Promise<T>): () => Promise<T> {
  let [kept, until]: [Promise<T> | undefined, number] = [undefined, 0];
  return () => {
    if (!kept || Date.now() >= until) [kept, until] = [make(), Date.now() + GUARD_MS];
    return kept;
  };
}

/** For a console that runs already, and for others than the one who started it. */
export async function linkCommand(flags: ConsoleFlags): Promise<number> {
  const users = (flags.user ?? [`${userName()}:admin`]).map(userOf);
  const { host, port } = addressOf(flags.listen);
  const shown = host.includes(":") ? `[${host}]` : host;
  const url = flags.origin === undefined ? `http://${shown}:${port}` : originOf(flags.origin);
  const store = await openStore(flags.store);
  try {
    tell(users, accessOf(store), url, flags.json);
    return 0;
  } finally {
    await store.close();
  }
}

function tell(users: readonly User[], access: Access, url: string, json: boolean | undefined): void {
  // Behind the #, a link's secret is never sent by itself: no log and no proxy sees it.
  const links = users.map((user) => ({ ...user, link: `${url}/#login=${access.link(user)}` }));
  if (json) print(`${JSON.stringify({ url, links })}\n`);
  else for (const { name, role, link } of links) print(`${name} (${role}), once: ${link}\n`);
}

function accessOf({ beside }: Store): Access {
  return new Access(`${beside}.console`);
}

function addressOf(text: string): { readonly host: string; readonly port: number } {
  const [, host, port] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65535)
    throw usage(`--listen takes an address and a port such as 127.0.0.1:7655, not "${text}"`);
  return { host, port: Number(port) };
}

function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:") throw usage(`--origin takes https://HOST, not "${text}"`);
  return url.origin;
}

function userOf(text: string): User {
  const [, name, role] = /^([^:]+):([^:]+)$/.exec(text) ?? [];
  if (name === undefined) throw usage(`--user takes NAME:ROLE, not "${text}"`);
  return { name, role: choice("--user", role!, ROLES) };
}

/** As text, only what is wrong is worth a line. */
function logger(form: "text" | "json"): (entry: LogEntry) => void {
  if (form === "json")
    return (entry) => say(`${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`);
  return ({ level, what, error }) => {
    if (level === "error" && error !== undefined) say(`hermes: ${harmless(`${what}: ${error}`)}\n`);
  };
}
