import { dirname } from "node:path";
import { TMP, WORKSPACE } from "./path-class.js";
import type { LearnedRule } from "./rules.js";

const READ = ["read_file", "read_dir"];
const WRITE = [
  "write_file",
  "truncate",
  "make_reg",
  "make_dir",
  "make_sym",
  "make_sock",
  "make_fifo",
  "remove_file",
  "remove_dir",
  "refer",
];
const FILE_ONLY = new Set(["execute", "write_file", "read_file", "truncate", "ioctl_dev"]);
const ALL = ["execute", ...READ, ...WRITE, "make_char", "make_block", "ioctl_dev"];
const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  exec: ["execute", "read_file"],
  read: READ,
  list: ["read_dir"],
  write: WRITE,
  mkdir: ["make_dir"],
  delete: ["remove_file", "remove_dir"],
};

/** The machine that the ruleset is for. */
interface LandlockMachine {
  readonly workspace: string;
  readonly home: string;
  readonly kindOf: (path: string) => "folder" | "file" | "absent";
}

/**
 * The rules as a Landlock ruleset (the JSON form of the landlockconfig library). Landlock knows hierarchies and ports, not
 * patterns, addresses or arguments: a pattern becomes the folder before its first wildcard, and the rest is lost.
 */
export function landlockConfig(rules: readonly LearnedRule[], machine: LandlockMachine): string {
  const beneath = new Map<string, Set<string>>();
  const ports = { connect_tcp: new Set<number>(), bind_tcp: new Set<number>() };
  for (const { action, words, path, address } of rules) {
    if (action !== "allow") continue;
    const rights = words.flatMap((word) => RIGHTS[word] ?? []);
    for (const { text } of path ?? []) grant(beneath, literalPart(text, machine), rights, machine);
    for (const { text } of address ?? []) {
      const port = portOf(text, words[0] === "bind");
      if (port !== undefined) ports[words[0] === "bind" ? "bind_tcp" : "connect_tcp"].add(port);
    }
  }
  const config = {
    ruleset: [{ handledAccessFs: ALL, handledAccessNet: ["bind_tcp", "connect_tcp"] }],
    pathBeneath: [...beneath].map(([parent, rights]) => ({
      allowedAccess: [...rights].sort(),
      parent: [parent],
    })),
    netPort: Object.entries(ports)
      .filter(([, numbers]) => numbers.size > 0)
      .map(([right, numbers]) => ({ allowedAccess: [right], port: [...numbers].sort((a, b) => a - b) })),
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Port 0 is any that the system chooses; a range of others cannot be said. */
function portOf(address: string, binds: boolean): number | undefined {
  const [, port, range] = /:(\d+)(-\d+)?$/.exec(address) ?? [];
  if (port === undefined) return undefined;
  return range === undefined ? Number(port) : binds ? 0 : undefined;
}

/** The path up to its first wildcard. */
function literalPart(pattern: string, { workspace, home }: LandlockMachine): string {
  const path = pattern.replace(WORKSPACE, workspace).replace(TMP, "/tmp").replace(/^~/, home);
  const wildcard = path.search(/(?<!\\)[*?[{]/);
  const literal = wildcard < 0 ? path : path.slice(0, path.lastIndexOf("/", wildcard));
  return literal.replace(/\\(.)/g, "$1") || "/";
}

/** Making and removing a file is a right on its folder. A file that does not exist yet gets its rights there, too. */
function grant(
  all: Map<string, Set<string>>,
  path: string,
  rights: readonly string[],
  { kindOf }: LandlockMachine,
): void {
  const kind = kindOf(path);
  const give = (to: string, given: readonly string[]) => {
    if (given.length > 0) all.set(to, new Set([...(all.get(to) ?? []), ...given]));
  };
  if (kind === "folder") {
    give(path, rights);
    return;
  }
  const onFile = rights.filter((right) => FILE_ONLY.has(right));
  const onFolder = rights.filter((right) => !FILE_ONLY.has(right) && right !== "read_dir");
  give(kind === "file" ? path : dirname(path), onFile);
  give(dirname(path), onFolder);
}
