import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isOurs, type SettingsFolders } from "./settings.js";

/**
 * Codex runs only hooks that its user has trusted, by a hash of each. `codex exec` silently skips others. The user of
 * `hermes install codex` trusts these hooks, so Codex is asked for the hashes and told to store them, over the protocol of
 * its editor plugins (`codex app-server`).
 */
const PATIENCE_MS = 20_000;

interface Hook {
  readonly key: string;
  readonly sourcePath: string;
  readonly command?: string;
  readonly currentHash: string;
  readonly trustStatus: string;
}

/** Returns the message for the user. Never throws: the user can trust the hook by hand later. */
export async function trustHooks(file: string, { project, env }: SettingsFolders): Promise<string> {
  const byHand = "start codex there and type /hooks to trust the hook; until then Codex skips it silently";
  const server = new AppServer(project, env);
  try {
    const { codexHome } = await server.ask<{ codexHome: string }>("initialize", {
      clientInfo: { name: "hermes", title: "HERMES", version: "0" },
    });
    server.tell("initialized");
    const found = await ourHooks(server, file, project);
    if (found.length === 0)
      return `Codex ignores the hooks of this folder until you trust the folder: start codex here once and install again, or use --user`;
    if (found.every(isTrusted)) return "Codex already trusts the hook.";
    const config = join(codexHome, "config.toml");
    if (existsSync(config) && !existsSync(backupOf(config))) copyFileSync(config, backupOf(config));
    const value = Object.fromEntries(
      found.map(({ key, currentHash }) => [key, { trusted_hash: currentHash }]),
    );
    const edit = { keyPath: "hooks.state", value, mergeStrategy: "upsert" };
    await server.ask("config/batchWrite", { edits: [edit] });
    return (await ourHooks(server, file, project)).every(isTrusted)
      ? `Codex now trusts the hook (written to ${config})`
      : `Codex did not store the trust: ${byHand}`;
  } catch (error) {
    return `Codex could not be made to trust the hook (${(error as Error).message}): ${byHand}`;
  } finally {
    server.close();
  }
}

/** Why Codex would not run the hooks of this file; undefined when it would. */
export async function whyNotTrusted(
  file: string,
  { project, env }: SettingsFolders,
): Promise<string | undefined> {
  const server = new AppServer(project, env);
  try {
    await server.ask("initialize", { clientInfo: { name: "hermes", title: "HERMES", version: "0" } });
    server.tell("initialized");
    const found = await ourHooks(server, file, project);
    if (found.length === 0) return "Codex ignores the hook: this folder is not trusted in Codex";
    return found.every(isTrusted)
      ? undefined
      : "Codex skips the hook because it is not trusted: install it again, or type /hooks in Codex";
  } catch (error) {
    return `Codex did not say whether it trusts the hook: ${(error as Error).message}`;
  } finally {
    server.close();
  }
}

const isTrusted = ({ trustStatus }: Hook) => trustStatus === "trusted" || trustStatus === "managed";

async function ourHooks(server: AppServer, file: string, project: string): Promise<readonly Hook[]> {
  const { data } = await server.ask<{ data: { hooks: Hook[] }[] }>("hooks/list", { cwds: [project] });
  return data
    .flatMap(({ hooks }) => hooks)
    .filter(({ sourcePath, command }) => sourcePath === file && isOurs(command, "codex"));
}

const backupOf = (config: string) => `${config}.before-hermes`;

/** Removes the trust in the hooks of this file and leaves no trace of it. Undefined when there was none. */
export function distrustHooks(
  file: string,
  { home, env }: SettingsFolders,
  dryRun: boolean,
): string | undefined {
  const config = join(env.CODEX_HOME || join(home, ".codex"), "config.toml");
  if (!existsSync(config)) return undefined;
  const before = readFileSync(config, "utf8");
  const after = withoutTrust(before, file);
  if (after === before) return undefined;
  if (!dryRun) {
    const backup = existsSync(backupOf(config)) ? readFileSync(backupOf(config), "utf8") : undefined;
    // If only white space differs, the backup is restored byte for byte.
    const same = backup !== undefined && squeezed(backup) === squeezed(after);
    if (backup === undefined && after.trim() === "") rmSync(config);
    else writeFileSync(config, same ? backup : after);
    rmSync(backupOf(config), { force: true });
  }
  return `The trust in the hook was removed from ${config}`;
}

const squeezed = (text: string) => text.replace(/\s+/g, "");

/** TOML as Codex writes it: a table for every hook, and one parent table. */
export function withoutTrust(text: string, file: string): string {
  const key = JSON.stringify(`${file}:`)
    .slice(1, -1)
    .replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const table = new RegExp(`\\n?^\\[hooks\\.state\\."${key}[^\\n]*"\\]\\n(?:(?!\\[)[^\\n]*(?:\\n|$))*`, "gm");
  const without = text.replace(table, "");
  if (without === text) return text;
  return /^\[hooks\.state\./m.test(without) ? without : without.replace(/\n?^\[hooks\.state\]\n\n?/m, "");
}

/** JSON-RPC, one message per line. */
class AppServer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  #next = 0;

  constructor(cwd: string, env: SettingsFolders["env"]) {
    this.#child = spawn("codex", ["app-server"], { cwd, env: { ...env }, stdio: ["pipe", "pipe", "ignore"] });
    const timer = setTimeout(() => this.#fail(new Error("no answer")), PATIENCE_MS);
    this.#child.on("error", ({ message }) => this.#fail(new Error(message)));
    this.#child.on("close", () => {
      clearTimeout(timer);
      this.#fail(new Error("it ended"));
    });
    this.#child.stdin!.on("error", () => {});
    createInterface({ input: this.#child.stdout! }).on("line", (line) => this.#hear(line));
  }

  ask<T>(method: string, params: object): Promise<T> {
    const id = this.#next++;
    const answer = new Promise<T>((resolve, reject) =>
      this.#waiting.set(id, { resolve: resolve as never, reject }),
    );
    this.#child.stdin!.write(`${JSON.stringify({ id, method, params })}\n`);
    return answer;
  }

  tell(method: string): void {
    this.#child.stdin!.write(`${JSON.stringify({ method })}\n`);
  }

  close(): void {
    this.#child.kill();
  }

  #hear(line: string): void {
    let message: { id?: number; result?: unknown; error?: { message?: string } };
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    const waiting = message.id === undefined ? undefined : this.#waiting.get(message.id);
    if (!waiting) return;
    this.#waiting.delete(message.id!);
    if (message.error) waiting.reject(new Error(message.error.message ?? "it refused"));
    else waiting.resolve(message.result as never);
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#child.kill();
  }
}
