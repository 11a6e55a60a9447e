import { once } from "node:events";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { serveHooks } from "../../agents/hooks/hook-server.js";
import { Fleet } from "../../fleet/fleet.js";
import { FleetMaintenance } from "../../fleet/maintenance.js";
import { traceStorageAt } from "../../fleet/trace-storage.js";
import { userFile } from "../../intent/guard/config/load.js";
import { configuredGuard } from "../../intent/guard/host.js";
import { SkillStore } from "../../intent/guard/skills/store.js";
import { escapeControl } from "../../nouns/text.js";
import { OtlpClient } from "../../offline/export/otlp-client.js";
import { ConsoleLogins, ROLES, type User } from "../../people/console/logins.js";
import { Console, type LogEntry } from "../../people/console/server.js";
import { ConsoleWhereabouts } from "../../people/console/whereabouts.js";
import { Audit } from "../../record/audit/audit.js";
import { openStore } from "../../record/store/open.js";
import type { Store } from "../../record/store/store.js";
import { choice, usageError } from "../options/values.js";
import { MachineRuns } from "../run/machine-runs.js";
import { userName } from "../run/terminal-approver.js";
import { print, say } from "../views/output.js";
import { reportPage } from "../views/report-page.js";
import { skillFolder, skillScanner } from "./skill.js";

interface ConsoleFlags {
  readonly listen?: string;
  readonly origin?: string;
  readonly user?: readonly string[];
  readonly policy?: readonly string[];
  readonly otlp?: string;
  readonly store?: string;
  readonly log?: string;
  readonly json?: boolean;
  readonly traces?: string;
}

const LISTEN = "127.0.0.1:7655";
const GUARD_MS = 2000;

/** The console for all hosts of a fleet; it also watches rollouts. */
export async function serveFleetCommand(flags: ConsoleFlags): Promise<number> {
  const fleet = await Fleet.open(flags.store);
  try {
    return await consoleCommand(flags, fleet);
  } finally {
    await fleet.close();
  }
}

/** Serves until a signal ends it. */
export async function consoleCommand(flags: ConsoleFlags, fleet?: Fleet): Promise<number> {
  const { host, port } = addressOf(flags.listen ?? LISTEN);
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
      // "always" belongs in the host's own file: the fleet console can grant once, or for a session.
      ...(fleet
        ? { fleet }
        : { userFile: userFile({ workspace: resolve("."), home: homedir(), env: process.env }) }),
      ...(flags.traces !== undefined && { traces: traceStorageAt(flags.traces) }),
      ...(origin !== undefined && { origin }),
      ...(flags.otlp !== undefined && { collector: new OtlpClient(flags.otlp) }),
    });
    // Hooks that would have to load everything first ask this process instead (docs/how-to/hooks.md).
    const hooks = flags.store === undefined && !fleet ? await serveHooks(store, process.env) : undefined;
    const warden = fleet && watchOver(fleet, audit, log);
    const whereabouts = whereaboutsOf(store);
    whereabouts.tell(origin ?? console.url);
    tell(users, access, origin ?? console.url, flags.json);
    await Promise.race((["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => once(process, signal)));
    whereabouts.forget();
    hooks?.close();
    await warden?.close();
    await console.close();
    return 0;
  } finally {
    audit.close();
    await store.close();
  }
}

function watchOver(fleet: Fleet, audit: Audit, log: (entry: LogEntry) => void): FleetMaintenance {
  return new FleetMaintenance({
    fleet,
    log: (error) => log({ level: "error", what: "fleet", error }),
    takenBack: async ({ name, serial, why }) => {
      await audit.record("config", {
        what: `fleet: policy ${serial} (${name}) was rolled back: ${why}`,
        by: "hermes",
      });
    },
  });
}

/** The page polls often while a person types; a change of hermes.yaml shows after a moment. */
function cached<T>(make: () => Promise<T>): () => Promise<T> {
  let [kept, until]: [Promise<T> | undefined, number] = [undefined, 0];
  return () => {
    if (!kept || Date.now() >= until) [kept, until] = [make(), Date.now() + GUARD_MS];
    return kept;
  };
}

/** For a running console, and for further users. */
export async function consoleLinkCommand(flags: ConsoleFlags): Promise<number> {
  const users = (flags.user ?? [`${userName()}:admin`]).map(userOf);
  const given = flags.origin === undefined ? flags.listen && urlOf(flags.listen) : originOf(flags.origin);
  const store = await openStore(flags.store);
  try {
    const running = given ?? whereaboutsOf(store).url;
    if (running === undefined)
      say(
        `hermes: no console runs on this store: the link is for one at ${LISTEN} (start it: hermes console)\n`,
      );
    tell(users, accessOf(store), running ?? urlOf(LISTEN), flags.json);
    return 0;
  } finally {
    await store.close();
  }
}

function tell(users: readonly User[], access: ConsoleLogins, url: string, json: boolean | undefined): void {
  // In the fragment (#), a link's secret is never sent to a server: no log or proxy sees it.
  const links = users.map((user) => ({ ...user, link: `${url}/#login=${access.link(user)}` }));
  if (json) print(`${JSON.stringify({ url, links })}\n`);
  else for (const { name, role, link } of links) print(`${name} (${role}), once: ${link}\n`);
}

function accessOf({ beside }: Store): ConsoleLogins {
  return new ConsoleLogins(`${beside}.console`);
}

function whereaboutsOf({ beside }: Store): ConsoleWhereabouts {
  return new ConsoleWhereabouts(`${beside}.console`);
}

function urlOf(listen: string): string {
  const { host, port } = addressOf(listen);
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function addressOf(text: string): { readonly host: string; readonly port: number } {
  const [, host, port] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65535)
    throw usageError(`--listen takes an address and a port such as 127.0.0.1:7655, not "${text}"`);
  return { host, port: Number(port) };
}

function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:") throw usageError(`--origin takes https://HOST, not "${text}"`);
  return url.origin;
}

function userOf(text: string): User {
  const [, name, role] = /^([^:]+):([^:]+)$/.exec(text) ?? [];
  if (name === undefined) throw usageError(`--user takes NAME:ROLE, not "${text}"`);
  return { name, role: choice("--user", role!, ROLES) };
}

/** In text form, only errors are worth a line. */
function logger(form: "text" | "json"): (entry: LogEntry) => void {
  if (form === "json")
    return (entry) => say(`${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`);
  return ({ level, what, error }) => {
    if (level === "error" && error !== undefined) say(`hermes: ${escapeControl(`${what}: ${error}`)}\n`);
  };
}
