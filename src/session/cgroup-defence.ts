import { accessSync, constants, statfsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { readText } from "../process/proc.js";

/**
 * Whoever can write to the control files of a cgroup that the supervisor is in can freeze, kill or starve it; whoever can
 * write to the list of processes of any cgroup can move it to one of their own first. A file that is open for writing
 * can be written to later, so it is the open that is refused.
 */

const V1 = 0x27e0eb;
const V2 = 0x63677270;
/** Names that move processes, wherever they are. */
const MOVES = new Set(["cgroup.procs", "cgroup.threads", "tasks"]);
/** Names that no other file system has, for mounts of the program's own. */
const TELLING = /^(cgroup\.\w+|tasks|freezer\.state)$/;

/** Patterns for names that might be those of control files: no answer to an open of them stands. */
export const CGROUP_FILES: readonly string[] = [
  "/sys/fs/cgroup/**",
  "**/cgroup.*",
  "**/tasks",
  "**/freezer.state",
];

interface Mount {
  readonly at: string;
  /** Which cgroup of the hierarchy is seen there. */
  readonly root: string;
  /** What the hierarchy is called in /proc/PID/cgroup: controllers, or nothing for version 2. */
  readonly names: readonly string[];
}

/** Whether writing to this file could freeze, starve, end or move us. */
export function controlsOurCgroup(path: string): boolean {
  const name = basename(path);
  if (!path.startsWith("/sys/fs/cgroup/") && !TELLING.test(name)) return false;
  const mount = mounts()
    .filter(({ at }) => path.startsWith(`${at}/`))
    .sort((a, b) => b.at.length - a.at.length)[0];
  if (!mount) return TELLING.test(name) && mayBeCgroup(path);
  if (MOVES.has(name)) return true;
  const folder = `${mount.root === "/" ? "" : mount.root}${dirname(path).slice(mount.at.length)}` || "/";
  const ours = ourCgroup(mount);
  return ours === undefined || ours === folder || ours.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** Whether this user may move us at all: root may, and so may who was given the cgroup that we are in. */
export function cgroupIsOurUsers(): boolean {
  return mounts().some((mount) => {
    const ours = ourCgroup(mount);
    if (ours === undefined || !ours.startsWith(mount.root === "/" ? "/" : mount.root)) return false;
    try {
      const below = mount.root === "/" ? ours : ours.slice(mount.root.length);
      accessSync(`${mount.at}${below === "/" ? "" : below}/cgroup.procs`, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A name of a control file, where we see no mount of cgroups: in a tree of mounts of the program's own, or a file of that name. */
function mayBeCgroup(path: string): boolean {
  for (const at of [path, dirname(path)])
    try {
      return [V1, V2].includes(Number(statfsSync(at).type));
    } catch {
      // It is not there for us: it may be there for the program.
    }
  return true;
}

function mounts(): Mount[] {
  return readText("/proc/self/mountinfo")
    .split("\n")
    .flatMap((line) => {
      const [place = "", kind = ""] = line.split(" - ");
      const [type, , options = ""] = kind.split(" ");
      const [, , , root = "/", at = ""] = place.split(" ");
      if (type === "cgroup2") return [{ at, root, names: [] }];
      return type === "cgroup" ? [{ at, root, names: options.split(",") }] : [];
    });
}

function ourCgroup({ names }: Mount): string | undefined {
  for (const line of readText("/proc/self/cgroup").split("\n")) {
    const [, controllers = "", path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const isIt = names.length === 0 ? controllers === "" : names.includes(controllers.split(",")[0]!);
    if (isIt && path !== undefined) return path;
  }
  return undefined;
}
