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

export interface Folders {
  readonly workspace: string;
  readonly home: string;
  readonly isFolder: (path: string) => boolean;
}

/**
 * The rules as a Landlock ruleset (the JSON form of the landlockconfig library). Landlock knows hierarchies and ports, not
 * patterns, addresses or arguments: a pattern becomes the folder before its first wildcard, and the rest is lost.
 */
export function landlockConfig(rules: readonly LearnedRule[], folders: Folders): string {
  const beneath = new Map<string, Set<string>>();
  const ports = { connect_tcp: new Set<number>(), bind_tcp: new Set<number>() };
  for (const { action, words, path, address } of rules) {
    if (action !== "allow") continue;
    const rights = words.flatMap((word) => RIGHTS[word] ?? []);
    for (const { text } of path ?? []) add(beneath, parentOf(text, folders), rights, folders);
    for (const { text } of address ?? []) {
      const port = /:(\d+)(?:-\d+)?$/.exec(text)?.[1];
      if (port !== undefined) ports[words[0] === "bind" ? "bind_tcp" : "connect_tcp"].add(Number(port));
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

/** Of a file that is not there, and of one that comes and goes, the folder. */
function parentOf(pattern: string, { workspace, home, isFolder }: Folders): string {
  const path = pattern
    .replace("${" + "workspace}", workspace)
    .replace("${" + "tmp}", "/tmp")
    .replace(/^~/, home);
  const wildcard = path.search(/(?<!\\)[*?[{]/);
  const literal = (wildcard < 0 ? path : path.slice(0, path.lastIndexOf("/", wildcard))).replace(
    /\\(.)/g,
    "$1",
  );
  return literal === "" ? "/" : isFolder(literal) || wildcard < 0 ? literal : literal;
}

function add(
  all: Map<string, Set<string>>,
  path: string,
  rights: readonly string[],
  { isFolder }: Folders,
): void {
  const fitting = isFolder(path) ? rights : rights.filter((right) => FILE_ONLY.has(right));
  if (fitting.length === 0) return;
  const known = all.get(path) ?? new Set();
  all.set(path, known);
  for (const right of fitting) known.add(right);
}
