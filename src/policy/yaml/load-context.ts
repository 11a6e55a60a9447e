import { readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { workspaceOf } from "../../nouns/workspace.js";
import { LinkResolver } from "./link-resolver.js";

/**
 * The environment of a policy: its folders, and lookups of names. Used while loading, never while deciding.
 */
export interface LoadContext {
  readonly workspace: string;
  readonly home: string;
  readonly cwd: string;
  readonly tmp: readonly string[];
  /** A path with its links resolved, as far as it exists. */
  readonly realpath: (path: string) => string;
  /** The addresses of a host name. */
  readonly lookUp: (host: string) => Promise<readonly string[]>;
  readonly uidOf: (user: string) => number | undefined;
}

/** This machine, in its current state. */
export function hostContext(given: Partial<LoadContext> = {}): LoadContext {
  const links = new LinkResolver();
  const realpath = given.realpath ?? ((path: string) => links.resolve(path));
  const cwd = realpath(given.cwd ?? process.cwd());
  return {
    lookUp,
    uidOf,
    ...given,
    realpath,
    cwd,
    workspace: realpath(workspaceOf(cwd, given.workspace).folder),
    home: realpath(given.home ?? homedir()),
    tmp: [...new Set((given.tmp ?? ["/tmp", "/var/tmp", tmpdir()]).map(realpath))],
  };
}

/**
 * The environment of examples: an example that holds on one machine holds on every machine, even if the
 * program runs in its home, in /tmp or in /.
 */
export const EXAMPLE_CONTEXT: LoadContext = {
  workspace: "/home/user/work",
  home: "/home/user",
  cwd: "/home/user/work",
  tmp: ["/tmp"],
  realpath: (path) => path,
  lookUp: async () => [],
  uidOf: (user) => (user === "root" ? 0 : user === "user" ? 1000 : uidOf(user)),
};

async function lookUp(host: string): Promise<readonly string[]> {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

function uidOf(user: string): number | undefined {
  try {
    for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
      const [name, , uid] = line.split(":");
      if (name === user && uid !== undefined && uid !== "") return Number(uid);
    }
  } catch {
    // This system has no such file: the name is unknown, and the caller reports it.
  }
  return undefined;
}
