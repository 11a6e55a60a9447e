import { accessSync, constants, statfsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { readText } from "../kernel/process/proc.js";

/**
 * A process that can write to the control files of the supervisor's cgroup can freeze, kill or starve the
 * supervisor. A process that can write to any cgroup's list of processes can first move the supervisor into
 * its own cgroup. A file opened for writing can be written later, so the open itself is refused.
 */

/** f_type of statfs(2). */
const CGROUP_SUPER_MAGIC = 0x27e0eb;
const CGROUP2_SUPER_MAGIC = 0x63677270;
/** Files that move processes, in any cgroup. */
const MOVES = new Set(["cgroup.procs", "cgroup.threads", "tasks"]);
/** Names that no other file system has, for the program's own mounts. */
const TELLING = /^(cgroup\.\w+|tasks|freezer\.state)$/;

/** Patterns of names that may be control files: opens of them are never cached. */
export const CGROUP_FILES: readonly string[] = [
  "/sys/fs/cgroup/**",
  "**/cgroup.*",
  "**/tasks",
  "**/freezer.state",
];

interface Mount {
  readonly at: string;
  /** The cgroup of the hierarchy that is mounted there. */
  readonly root: string;
  /** The hierarchy's name in /proc/PID/cgroup: controllers, or empty for version 2. */
  readonly names: readonly string[];
}

/** True when writing to this file could freeze, starve, kill or move the supervisor. */
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

/** True when this user may move the supervisor: root may, and so may the owner of its cgroup. */
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

/**
 * True for a control file's name outside our cgroup mounts: it may be in the program's own mounts, or just a
 * file of that name.
 */
function mayBeCgroup(path: string): boolean {
  for (const at of [path, dirname(path)])
    try {
      return [CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC].includes(Number(statfsSync(at).type));
    } catch {
      // We do not see it, but the program may.
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
