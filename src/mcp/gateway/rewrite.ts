import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { HermesError } from "../../errors.js";
import type { Json } from "./peer.js";
import { withoutComments } from "./servers.js";

/** What was done with each server of a client's configuration. */
export interface Rewritten {
  readonly changed: readonly string[];
  /** Servers that stay as they are, and why. */
  readonly left: readonly { readonly name: string; readonly why: string }[];
  readonly backup?: string;
}

const LISTS = ["mcpServers", "servers", "context_servers"];
const COMMAND = "mcp-gateway";

/** Has every server that a client starts go through the gateway. What was there is kept beside it. */
export function rewrite(file: string, hermes: string): Rewritten {
  const before = read(file);
  const config = parse(file, before);
  const changed: string[] = [];
  const left: { name: string; why: string }[] = [];
  const after = mapServers(config, (name, server) => {
    const why = whyLeft(server);
    if (why !== undefined) {
      left.push({ name, why });
      return server;
    }
    changed.push(name);
    return through(name, server, hermes);
  });
  if (changed.length === 0) return { changed, left };
  const backup = backupOf(file);
  if (!existsSync(backup)) replace(backup, before, statSync(file).mode);
  replace(file, `${JSON.stringify(after, undefined, 2)}\n`, statSync(file).mode);
  return { changed, left, backup };
}

/** The way back: the very file that was there, or, when somebody changed it since, server by server. */
export function undo(file: string): Rewritten {
  const now = read(file);
  const backup = backupOf(file);
  const changed: string[] = [];
  const config = mapServers(parse(file, now), (name, server) => {
    const direct = without(server);
    if (direct) changed.push(name);
    return direct ?? server;
  });
  if (changed.length === 0) return { changed, left: [] };
  const original = existsSync(backup) ? read(backup) : undefined;
  const same = original !== undefined && digest(parse(backup, original)) === digest(config);
  replace(file, same ? original : `${JSON.stringify(config, undefined, 2)}\n`, statSync(file).mode);
  if (same) rmSync(backup);
  return { changed, left: [], ...(!same && original !== undefined && { backup }) };
}

function backupOf(file: string): string {
  return `${file}.before-hermes`;
}

function whyLeft({ command, args, url, serverUrl }: Json): string | undefined {
  if (typeof command !== "string")
    return typeof url === "string" || typeof serverUrl === "string"
      ? "it runs elsewhere and is reached by its address"
      : "it has no command";
  return Array.isArray(args) && args[0] === COMMAND ? "it goes through the gateway already" : undefined;
}

/** Only names of variables become words: values stay where they were. */
function through(name: string, server: Json, hermes: string): Json {
  const { command, args = [], env = {}, ...rest } = server;
  const names = Object.keys(env as Json).flatMap((variable) => ["--env", variable]);
  const words = [COMMAND, "--name", plain(name), ...names, "--", String(command), ...(args as string[])];
  return { ...rest, command: hermes, args: words, ...(server.env !== undefined && { env }) };
}

function plain(name: string): string {
  return (
    name
      .replace(/[^A-Za-z0-9.-]+/g, "-")
      .replace(/^[.-]+/, "")
      .slice(0, 40) || "server"
  );
}

function without(server: Json): Json | undefined {
  const { args } = server;
  if (!Array.isArray(args) || args[0] !== COMMAND || !args.includes("--")) return undefined;
  const [command, ...rest] = args.slice(args.indexOf("--") + 1) as string[];
  if (command === undefined) return undefined;
  return { ...server, command, args: rest };
}

function mapServers(config: Json, act: (name: string, server: Json) => Json): Json {
  const entries = Object.entries(config).map(([key, value]): [string, unknown] => {
    if (key === "mcp" && isObject(value)) return [key, mapServers(value, act)];
    if (!LISTS.includes(key) || !isObject(value)) return [key, value];
    const servers = Object.entries(value).map(([name, server]) => [
      name,
      isObject(server) ? act(name, server) : server,
    ]);
    return [key, Object.fromEntries(servers)];
  });
  return Object.fromEntries(entries);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `args` that were not there are the same as none. */
function digest(config: Json): string {
  const filled = mapServers(config, (_, server) =>
    "command" in server ? { ...server, args: server.args ?? [] } : server,
  );
  return createHash("sha256").update(canonical(filled)).digest("hex");
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new HermesError("CONFIG", { file, message: (error as Error).message }, { cause: error });
  }
}

function parse(file: string, text: string): Json {
  try {
    const value: unknown = JSON.parse(withoutComments(text));
    if (isObject(value)) return value;
  } catch (error) {
    throw new HermesError("CONFIG", { file, message: (error as Error).message }, { cause: error });
  }
  throw new HermesError("CONFIG", { file, message: "it is no configuration of servers" });
}

/** At once or not at all. */
function replace(file: string, text: string, mode: number): void {
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, text, { mode: mode & 0o777 });
  renameSync(draft, file);
}
