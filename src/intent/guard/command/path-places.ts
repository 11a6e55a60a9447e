import { globMatcher } from "./parameters.js";
import { HOLE } from "./script.js";
import { CREDENTIALS, INSTRUCTIONS, PERSISTENT, PRIVATE, SELF, STARTUP } from "./sensitive.js";

/** Where a path is, as far as its spelling tells. */
type Area =
  | "workspace"
  | "temporary"
  | "home"
  | "system"
  | "device"
  | "harmless-device"
  | "outside"
  | "checkout"
  | "unknown";

export interface PathPlace {
  /** Absolute and normalized; may have holes. */
  readonly path: string;
  readonly area: Area;
  /** The path is a whole: the root, a home, the workspace, or everything directly inside one of these. */
  readonly whole: boolean;
}

export interface CommandFolders {
  readonly workspace: string;
  readonly home: string;
}

const SYSTEM = new Set(
  "bin boot dev etc lib lib32 lib64 libx32 proc root run sbin sys usr var System Library Applications Windows nix private".split(
    " ",
  ),
);
const HARMLESS_DEVICE =
  /^\/dev\/(null|zero|full|random|urandom|stdin|stdout|stderr|tty|ptmx|fd\/\d+|shm(\/.*)?|pts\/\d+)$/;
/** Folders where container images keep the project. */
const CHECKOUT =
  /^\/(testbed|repo|repos|app|apps|workspace|workspaces|work|code|src|project|projects|build|github\/workspace|usr\/src\/app)\//;
const TEMPORARY = /^(\/tmp|\/var\/tmp|\/private\/tmp|\/dev\/shm|\/var\/folders)(\/|$)/;

export function pathPlace(
  text: string,
  glob: boolean,
  cwd: string,
  { workspace, home }: CommandFolders,
): PathPlace {
  const path = normalise(text, cwd);
  if (path === undefined) return { path: text, area: "unknown", whole: /^\0\/?(\*|\.\*)?\/?$/.test(text) };
  const area = areaOf(path, workspace, home);
  const parent = glob && /\/\.?[*?[\]!.{}]*\*$/.test(path) ? path.replace(/\/[^/]*$/, "") || "/" : undefined;
  return {
    path,
    area,
    whole: isWhole(path, workspace, home) || (parent !== undefined && isWhole(parent, workspace, home)),
  };
}

/** Every Windows path is outside: the workspace is on this machine. */
const WINDOWS = /^[A-Za-z]:[\\/]|^\\\\|^%\w+%/;

/** No part of it is empty or starts with a dot, so there is nothing to normalize. Absolute paths below /proc and /private are. */
const ORDINARY = /^(?!\/(?:proc|private)(?:\/|$))\/?[\w@%+=,:-][\w.@%+=,:-]*(?:\/[\w@%+=,:-][\w.@%+=,:-]*)*$/;

function normalise(text: string, cwd: string): string | undefined {
  if (WINDOWS.test(text)) return `/${text.replaceAll("\\", "/").replace(/^([A-Za-z]):/, "$1")}`;
  const plain = text.startsWith("file://") ? text.slice(7) : text;
  if (plain.startsWith(HOLE)) return undefined;
  if (ORDINARY.test(plain)) {
    if (plain.startsWith("/")) return plain;
    if (cwd.startsWith("/") && ORDINARY.test(cwd)) return `${cwd}/${plain}`;
  }
  const joined = plain.startsWith("/") ? plain : `${cwd}/${plain}`;
  if (joined.startsWith(HOLE) || !joined.startsWith("/")) return undefined;
  const parts: string[] = [];
  for (const part of joined.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    // The parent of an unknown folder is unknown: the folder may be a link.
    else if (parts.pop() === HOLE) parts.push(HOLE);
  }
  const path = `/${parts.join("/")}`;
  const detour = /^\/proc\/(?:self|thread-self|\d+|\*|\0)\/(root|cwd)(\/.*)?$/.exec(path);
  if (!detour) return path.replace(/^\/private\/(etc|var)(?=\/|$)/, "/$1");
  return detour[1] === "root" ? normalise(detour[2] ?? "/", cwd) : normalise(`.${detour[2] ?? ""}`, cwd);
}

/** A path as the shell would resolve it; may have holes. */
export const resolvePath = (text: string, cwd: string): string => normalise(text, cwd) ?? text;

function within(path: string, folder: string): boolean {
  return path === folder || (path.startsWith(folder) && path[folder.length] === "/");
}

function areaOf(path: string, workspace: string, home: string): Area {
  if (workspace !== "/" && workspace !== home && within(path, workspace)) return "workspace";
  if (path.startsWith("/dev/")) return HARMLESS_DEVICE.test(path) ? "harmless-device" : "device";
  if (TEMPORARY.test(path)) return "temporary";
  if (within(path, home) || /^\/(home|Users)\/[^/]+/.test(path)) return "home";
  const [, top = ""] = path.split("/");
  if (top === "" || SYSTEM.has(top) || /^[*?[\0]/.test(top))
    return /^\/usr\/local(\/|$)/.test(path) ? "outside" : "system";
  if (workspace === "/" || workspace === home) return "workspace";
  return CHECKOUT.test(path) ? "checkout" : "outside";
}

const WHOLE =
  /^\/(testbed|repo|app|workspace|work|code|src|project|home|Users|root|tmp|mnt|media|opt|srv|data)?$|^\/(home|Users)\/[^/]+$|^\/(bin|boot|dev|etc|lib|lib64|proc|run|sbin|sys|usr|var)$/;

function isWhole(path: string, workspace: string, home: string): boolean {
  if (WHOLE.test(path) || path === home || within(workspace, path)) return true;
  return /(^|\/)\.(git|hg|svn)$/.test(path);
}

/** Why a path is sensitive to read or to write, for every program. */
type Sensitivity = "credential" | "private" | "process" | "startup" | "persistent" | "instructions" | "self";

const TABLES: readonly (readonly [Sensitivity, readonly Sensitive[]])[] = [
  ["credential", CREDENTIALS],
  ["private", PRIVATE],
  ["persistent", PERSISTENT],
  ["startup", STARTUP],
  ["instructions", INSTRUCTIONS],
  ["self", SELF],
];

/** A pattern for paths, and a path that it matches: wildcards of commands are tried on that path. */
export type Sensitive = readonly [pattern: RegExp, example: string];

const PROCESS =
  /^\/proc\/([^/]+)\/(?:task\/[^/]+\/)?(environ|mem|maps|smaps|auxv|fd\/.*|map_files.*|root.*|stack|syscall)$|^\/proc\/(kcore|kmem|kallsyms)$|^\/dev\/(mem|kmem|port)$/;

const known = new Map<Sensitivity, { readonly any: RegExp; readonly examples: readonly string[] }>(
  TABLES.map(([kind, rows]) => [
    kind,
    {
      any: new RegExp(rows.map(([pattern]) => pattern.source).join("|")),
      examples: rows.map(([, example]) => example),
    },
  ]),
);

export function isSensitive(
  kind: Sensitivity,
  place: Pick<PathPlace, "path">,
  glob: boolean,
  surroundings: CommandFolders,
): boolean {
  const path = asIfOrdinary(place.path, surroundings);
  return glob ? matches(kind, path, true) : remembered(kind, path);
}

/** The same few paths are tried for every kind, and by several checks. One bit for each kind, asked and answered. */
const answers = new Map<string, number>();
const KINDS: readonly Sensitivity[] = [
  "credential",
  "private",
  "process",
  "startup",
  "persistent",
  "instructions",
  "self",
];
const REMEMBERED_AT_MOST = 4096;

function remembered(kind: Sensitivity, path: string): boolean {
  const asked = 1 << KINDS.indexOf(kind);
  const yes = asked << KINDS.length;
  const before = answers.get(path) ?? 0;
  if ((before & asked) !== 0) return (before & yes) !== 0;
  const answer = matches(kind, path, false);
  if (answers.size >= REMEMBERED_AT_MOST) answers.clear();
  answers.set(path, before | asked | (answer ? yes : 0));
  return answer;
}

function matches(kind: Sensitivity, path: string, glob: boolean): boolean {
  if (kind === "process") return PROCESS.test(path) && !/^\/proc\/self\/(maps|fd)/.test(path);
  const { any, examples } = known.get(kind)!;
  // `find /etc -name shadow` also finds it in /etc itself.
  if (any.test(path) || (path.includes(HOLE) && any.test(path.replaceAll(`/${HOLE}/`, "/")))) return true;
  if (!glob) return false;
  const matcher = globMatcher(path);
  return (
    matcher !== undefined &&
    examples.some((example) => {
      const full = example.replace(/^~/, HOME).replace(/^\.(?=\/)/, path.replace(/\/[^/]*$/, ""));
      return (
        matcher.test(full) && dotsNamed(path, full) && (!example.startsWith("./") || isMeant(path, example))
      );
    })
  );
}

const HOME = "/home/user";

/**
 * The location of the workspace or the home does not matter: only the part below it does. The home of root is like
 * any other.
 */
function asIfOrdinary(path: string, { workspace, home }: CommandFolders): string {
  const below = (folder: string) => folder !== "/" && (path === folder || path.startsWith(`${folder}/`));
  const own = workspace !== home && !home.startsWith(`${workspace}/`);
  if (own && below(workspace)) return `/workspace${path.slice(workspace.length)}`;
  return below(home) ? HOME + path.slice(home.length) : path;
}

/** `*.json` does not mean credentials.json; `cred*` and `.en?` mean the files that start like this. */
function isMeant(pattern: string, example: string): boolean {
  const literal = /[^/*?[]*(?=[*?[])[^/]*$/.exec(pattern)?.[0].split(/[*?[]/)[0] ?? "";
  return example.startsWith("./.") || literal.length >= 3;
}

/** `*` does not match hidden files: a pattern for them has a dot in the same place. */
function dotsNamed(pattern: string, example: string): boolean {
  return pattern.split("/.").length >= example.split("/.").length;
}
