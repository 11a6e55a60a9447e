import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../support/root.js";
import type { Client } from "./client.js";
import { NODE } from "./clients.js";

/** Where clients are kept from one run to the next: they are large. Behind a strict fence they must lie outside of /tmp. */
const CACHE = process.env.HERMES_AGENTS ?? join(root, "build/agents");

/** Where the homes and projects of a run lie. */
export function seats(): string {
  const folder = join(CACHE, "seats");
  mkdirSync(folder, { recursive: true });
  return folder;
}

export interface Fetched {
  readonly client: Client;
  readonly version: string;
  /** The words that start it. */
  readonly program: readonly string[];
}

/** The client as npm has it, pinned or the newest. Throws when npm cannot give it. */
export function fetchClient(client: Client, newest = false): Fetched {
  const version = newest ? newestOf(client.package) : client.version;
  const program = join(fetched(client.package, version), client.program);
  const node = client.node ? [join(fetched(NODE.package, NODE.version), NODE.program)] : [];
  return { client, version, program: [...node, program] };
}

function newestOf(name: string): string {
  return execFileSync("npm", ["view", name, "version"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

/** Its node_modules: whole, or not there. */
function fetched(name: string, version: string): string {
  const folder = join(CACHE, `${name.replace(/\W+/g, "-")}-${version}`);
  if (!existsSync(folder)) {
    const draft = `${folder}.${process.pid}.tmp`;
    mkdirSync(draft, { recursive: true });
    try {
      writeFileSync(join(draft, "package.json"), "{}");
      execFileSync(
        "npm",
        ["install", "--no-save", "--no-fund", "--no-audit", "--loglevel=error", `${name}@${version}`],
        {
          cwd: draft,
          stdio: ["ignore", "ignore", "pipe"],
          timeout: 300_000,
        },
      );
      renameSync(draft, folder);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }
  return join(folder, "node_modules");
}
