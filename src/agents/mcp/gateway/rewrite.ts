import { existsSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { applyEdits, modify } from "jsonc-parser";
import { toolDigest } from "../../../intent/guard/mcp/pins.js";
import { HermesError } from "../../../nouns/errors.js";
import type { Json } from "./peer.js";
import { readJson } from "./servers.js";

/** What was done with each server of a client's configuration. */
export interface Rewritten {
  readonly changed: readonly string[];
  /** Servers that were not changed, and why. */
  readonly left: readonly { readonly name: string; readonly why: string }[];
  readonly backup?: string;
}

const LISTS = ["mcpServers", "servers", "context_servers"];
const COMMAND = "mcp-gateway";

/** Routes every server that a client starts through the gateway. Keeps a backup beside the file. */
export function rewrite(file: string, hermes: string): Rewritten {
  const { text, value } = readJson(file);
  const all = serversIn(file, value);
  const left = all.flatMap(({ name, server }) => {
    const why = whyLeft(server);
    return why === undefined ? [] : [{ name, why }];
  });
  const chosen = all.filter(({ server }) => whyLeft(server) === undefined);
  const changed = chosen.map(({ name }) => name);
  if (chosen.length === 0) return { changed, left };
  const backup = backupOf(file);
  if (!existsSync(backup)) replace(backup, text, statSync(file).mode);
  const after = chosen.reduce(
    (now, { path, name, server }) => edited(now, path, through(name, server, hermes)),
    text,
  );
  replace(file, after, statSync(file).mode);
  return { changed, left, backup };
}

/** Undoes it: restores the backup or, if the file was edited since, restores each server's entry. */
export function undo(file: string): Rewritten {
  const { text, value } = readJson(file);
  const ours = serversIn(file, value).flatMap(({ path, name, server }) => {
    const direct = without(server);
    return direct ? [{ path, name, direct }] : [];
  });
  const changed = ours.map(({ name }) => name);
  if (ours.length === 0) return { changed, left: [] };
  const after = ours.reduce((now, { path, direct }) => edited(now, path, direct), text);
  const backup = backupOf(file);
  const { mode } = statSync(file);
  replace(file, after, mode);
  if (!existsSync(backup)) return { changed, left: [] };
  const original = readJson(backup);
  if (digest(backup, original.value) !== digest(file, readJson(file).value))
    return { changed, left: [], backup };
  replace(file, original.text, mode);
  rmSync(backup);
  return { changed, left: [] };
}

function backupOf(file: string): string {
  return `${file}.before-hermes`;
}

function whyLeft({ command, args, url, serverUrl }: Json): string | undefined {
  if (typeof command !== "string")
    return typeof url === "string" || typeof serverUrl === "string"
      ? "it is a remote server with a URL"
      : "it has no command";
  return Array.isArray(args) && args[0] === COMMAND ? "it already goes through the gateway" : undefined;
}

/** The changed fields of an entry. Only names of variables become arguments: their values stay where they were. */
interface Words {
  readonly command: string;
  readonly args: readonly string[];
}

function through(name: string, { command, args, env }: Json, hermes: string): Words {
  const names = Object.keys((env ?? {}) as Json).flatMap((variable) => ["--env", variable]);
  const own = Array.isArray(args) ? (args as string[]) : [];
  return { command: hermes, args: [COMMAND, "--name", plain(name), ...names, "--", String(command), ...own] };
}

/** A name that is valid as a prefix of tool names. */
function plain(name: string): string {
  return (
    name
      .replace(/[^A-Za-z0-9.-]+/g, "-")
      .replace(/^[.-]+/, "")
      .slice(0, 40) || "server"
  );
}

function without({ args }: Json): Words | undefined {
  if (!Array.isArray(args) || args[0] !== COMMAND || !args.includes("--")) return undefined;
  const [command, ...rest] = args.slice(args.indexOf("--") + 1) as string[];
  return command === undefined ? undefined : { command, args: rest };
}

interface Entry {
  readonly path: readonly string[];
  readonly name: string;
  readonly server: Json;
}

function serversIn(file: string, value: unknown): Entry[] {
  if (!isObject(value))
    throw new HermesError("CONFIG", { file, message: "it does not configure MCP servers" });
  const places = [...LISTS.map((key) => [key]), ...LISTS.map((key) => ["mcp", key])];
  return places.flatMap((path) => {
    const list = path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), value);
    if (!isObject(list)) return [];
    return Object.entries(list).flatMap(([name, server]) =>
      isObject(server) ? [{ path: [...path, name], name, server }] : [],
    );
  });
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Changes only these two values: the rest of the file, with its comments, stays as it was written. */
function edited(text: string, path: readonly string[], { command, args }: Words): string {
  const options = { formattingOptions: { insertSpaces: true, tabSize: 2 } };
  const named = applyEdits(text, modify(text, [...path, "command"], command, options));
  return applyEdits(named, modify(named, [...path, "args"], args, options));
}

/** Missing `args` equal an empty list. */
function digest(file: string, value: unknown): string {
  const filled = structuredClone(value) as Record<string, unknown>;
  for (const { server } of serversIn(file, filled)) Object.assign(server, { args: server.args ?? [] });
  return toolDigest(filled);
}

/** Writes atomically. */
function replace(file: string, text: string, mode: number): void {
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, text, { mode: mode & 0o777 });
  renameSync(draft, file);
}
