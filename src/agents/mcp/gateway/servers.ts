import { readFileSync } from "node:fs";
import { type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import * as z from "zod";
import { HermesError } from "../../../nouns/errors.js";

/** A third-party server, and what it may use. */
export interface GatewayServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Extra environment variables, besides the harmless ones that every server gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Folders that it may change; it starts in the first. Default: the working directory. */
  readonly roots: readonly string[];
  readonly network: "public" | "none";
  /** Tool names, with `*`: each call of these is asked about. */
  readonly ask: readonly string[];
  /** … and these are not offered. */
  readonly deny: readonly string[];
}

const entry = z.looseObject({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  roots: z.array(z.string().min(1)).default([]),
  network: z.enum(["public", "none"]).default("public"),
  ask: z.array(z.string()).default([]),
  deny: z.array(z.string()).default([]),
});

const file = z.looseObject({
  mcpServers: z.record(z.string(), entry).optional(),
  servers: z.record(z.string(), entry).optional(),
});

export const SERVER_NAMES = "a server's name has letters, digits, dots and hyphens only, at most 40";

/** Names become part of tool names and folder names. */
export function isServerName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9.-]{0,39}$/.test(name);
}

/** The servers of a file: `mcpServers` as most clients have it, or `servers` as in VS Code. */
export function readServers(path: string): GatewayServer[] {
  const wrong = (message: string) => new HermesError("CONFIG", { file: path, message });
  const read = file.safeParse(readJson(path).value);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw wrong(`${issue!.path.join(".")}: ${issue!.message}`);
  }
  const all = Object.entries(read.data.mcpServers ?? read.data.servers ?? {});
  if (all.length === 0) throw wrong("it has no servers (mcpServers)");
  return all.map(([name, { command, args, env, roots, network, ask, deny }]) => {
    if (!isServerName(name)) throw wrong(`${name}: ${SERVER_NAMES}`);
    return { name, command, args, env, roots, network, ask, deny };
  });
}

/** `@scope/server-files@1.2` → `server-files`: the name of a server that was given only as a command. */
export function serverNameOf([program = "", ...args]: readonly string[]): string {
  const runner = /(?:^|\/)(?:npx|bunx|pnpx|uvx|pipx|node|python[\d.]*|env)$/.test(program);
  const word = (runner ? args.find((arg) => !/^-|^run$/.test(arg)) : undefined) ?? program;
  const parts = word
    .replace(/(.)@[^/@]*$/, "$1")
    .split("/")
    .filter((part) => !/^(?:dist|build|index\.\w+|main\.\w+)$/.test(part));
  return (
    (parts.at(-1) ?? "server")
      .replace(/[^A-Za-z0-9.-]+/g, "-")
      .replace(/^[.-]+/, "")
      .slice(0, 40) || "server"
  );
}

/** As clients write it: with comments and trailing commas. */
export function readJson(file: string): { readonly text: string; readonly value: unknown } {
  const wrong = (message: string, cause?: unknown) => new HermesError("CONFIG", { file, message }, { cause });
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw wrong((error as Error).message, error);
  }
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) {
    const line = text.slice(0, error.offset).split("\n").length;
    throw wrong(`line ${line}: ${printParseErrorCode(error.error)}`);
  }
  return { text, value };
}
