import { isAtOrBelow } from "../../nouns/path.js";
import type { MountStep } from "../binding/fence-plan.js";
import type { VisiblePlaces } from "../view/view.js";

/** The mounts of a strict fence. All paths are absolute and free of links. */
export interface MountedFiles {
  readonly writable: readonly string[];
  /** Paths that stay visible although a private folder covers them. */
  readonly readable: readonly string[];
  readonly hidden: readonly string[];
  /** Files in writable folders that are read-only all the same. */
  readonly kept?: readonly string[];
  /** True when the program may resolve host names. */
  readonly hostNetwork: boolean;
}

const OPEN_TO_ALL = "mode=1777";
const TEMPORARY = ["/tmp", "/var/tmp"];
/**
 * Folders that are private to the program and start empty, so that it does not reach sockets and files of
 * others.
 */
const PRIVATE = [...TEMPORARY, "/run", "/dev"];
const DEVICES = ["null", "zero", "full", "random", "urandom", "tty"];
const RESOLVER = "/run/systemd/resolve";
/** Kernel settings that root could change without any capability. */
const KERNEL_SETTINGS = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"];
/** Files that disclose the machine and other users. */
const KERNEL_SECRETS = [
  "/proc/acpi",
  "/proc/kcore",
  "/proc/keys",
  "/proc/key-users",
  "/proc/latency_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/proc/timer_list",
  "/sys/firmware",
  "/sys/kernel/debug",
  "/sys/kernel/security",
  "/sys/kernel/tracing",
];

/** Where a program behind a strict fence may always write. */
export const ALWAYS_WRITABLE = [...TEMPORARY, "/dev/shm", "/dev/mqueue"];

/** True when the program has its own private copy of the folder. */
export function isPrivate(path: string): boolean {
  if (PRIVATE.includes(path) || isAtOrBelow(path, "/proc")) return true;
  // A workspace may lie in shared memory, as in /tmp; shared memory itself stays private.
  return isAtOrBelow(path, "/dev") && !path.startsWith("/dev/shm/");
}

/** In these folders nothing is a file of the disk, and a program writes to what is its own there. */
const NO_DISK = ["/proc"];

/** As a mount of its own it would not find its terminals, which the kernel looks for beside it. */
const PTMX = "/dev/ptmx";

interface PlainMounts {
  /** Folders that are the run's own. */
  readonly own: readonly string[];
  /** What lies in these folders and is seen all the same. */
  readonly exposed: readonly string[];
  /** All other files are read-only; undefined: none is. */
  readonly changeable: readonly string[] | undefined;
  /** Files in these folders that are read-only all the same. */
  readonly kept: readonly string[];
}

/** The mounts of a standard fence with a view. Every file stays where it is; only /dev has devices. */
export function plainMounts({ own, exposed, changeable, kept }: PlainMounts): MountStep[] {
  const isDevice = (path: string) => isAtOrBelow(path, "/dev");
  const expose = (path: string): MountStep => ({ kind: "expose", path });
  const tmpfs = own.map((path): MountStep => ({ kind: "tmpfs", path, data: OPEN_TO_ALL }));
  if (!changeable)
    return [expose("/dev"), { kind: "noDevices", path: "/" }, ...tmpfs, ...exposed.map(expose)];
  const mayChange = (path: string) => changeable.some((folder) => isAtOrBelow(path, folder));
  return [
    { kind: "readOnly", path: "/" },
    { kind: "exposeReadOnly", path: "/dev" },
    ...changeable.filter((path) => isDevice(path) && path !== PTMX).map(expose),
    { kind: "noDevices", path: "/" },
    ...[...NO_DISK, ...changeable.filter((path) => !isDevice(path))].map(expose),
    ...tmpfs,
    ...exposed.map((path): MountStep => ({ kind: mayChange(path) ? "expose" : "exposeReadOnly", path })),
    ...protectedIn(changeable, kept),
  ];
}

function protectedIn(folders: readonly string[], files: readonly string[]): MountStep[] {
  return files
    .filter((path) => folders.some((folder) => isAtOrBelow(path, folder)))
    .map((path) => ({ kind: "protect", path, ifThere: true }));
}

/** What the program sees of the files behind these mounts. */
export function plainPlaces({ writable, readable }: MountedFiles, workspace: string): VisiblePlaces {
  return {
    own: [],
    mayBeOwn: ["/dev/shm"],
    exposed: [...writable, ...readable, workspace],
    devices: true,
    listsAll: process.geteuid?.() === 0,
  };
}

/** What the program sees of the files behind these mounts. */
export function placesOf({ writable, readable, hostNetwork }: MountedFiles): VisiblePlaces {
  return {
    own: PRIVATE,
    exposed: [...writable, ...readable, ...(hostNetwork ? [RESOLVER] : [])],
    writable,
  };
}

/** The mount steps, in order. */
export function mountSteps(files: MountedFiles): MountStep[] {
  const everything = files.writable.includes("/");
  return [
    ...(everything ? [] : [{ kind: "readOnly", path: "/" } as const]),
    ...TEMPORARY.map((path): MountStep => ({ kind: "tmpfs", path, data: OPEN_TO_ALL, ifThere: true })),
    { kind: "tmpfs", path: "/run", data: "mode=0755", ifThere: true },
    ...(files.hostNetwork ? [{ kind: "exposeReadOnly", path: RESOLVER, ifThere: true } as const] : []),
    ...devices(),
    ...kernel(),
    ...exposed(files),
    ...protectedIn(files.writable, files.kept ?? []),
    ...hidden(files),
  ];
}

function devices(): MountStep[] {
  return [
    { kind: "tmpfs", path: "/dev", data: "mode=0755" },
    ...DEVICES.map((name): MountStep => ({ kind: "expose", path: `/dev/${name}`, ifThere: true })),
    { kind: "devpts", path: "/dev/pts" },
    { kind: "tmpfs", path: "/dev/shm", data: OPEN_TO_ALL },
    { kind: "mqueue", path: "/dev/mqueue" },
    { kind: "link", path: "/dev/ptmx", data: "pts/ptmx" },
    { kind: "link", path: "/dev/fd", data: "/proc/self/fd" },
    ...["stdin", "stdout", "stderr"].map(
      (name, fd): MountStep => ({ kind: "link", path: `/dev/${name}`, data: `/proc/self/fd/${fd}` }),
    ),
    { kind: "seal", path: "/dev" },
  ];
}

function kernel(): MountStep[] {
  return [
    { kind: "proc", path: "/proc" },
    ...KERNEL_SETTINGS.map((path): MountStep => ({ kind: "protect", path, ifThere: true })),
    ...KERNEL_SECRETS.map((path): MountStep => ({ kind: "hide", path, ifThere: true })),
  ];
}

/** Outer folders first, so that the rule of an inner folder prevails. */
function exposed({ writable, readable }: MountedFiles): MountStep[] {
  const covered = readable.filter((path) => PRIVATE.some((folder) => isAtOrBelow(path, folder)));
  const unwritten = covered.filter((path) => !writable.some((folder) => isAtOrBelow(path, folder)));
  return [
    ...unwritten.map((path): MountStep => ({ kind: "exposeReadOnly", path })),
    ...writable.filter((path) => path !== "/").map((path): MountStep => ({ kind: "expose", path })),
  ].sort((a, b) => a.path.length - b.path.length);
}

/**
 * A mount point cannot be renamed or removed, but the folders above it can, and then the program could put
 * another file in its place. So each writable folder above it becomes a mount as well.
 */
function hidden({ writable, hidden }: MountedFiles): MountStep[] {
  const pinned = new Set<string>();
  for (const path of hidden)
    for (const folder of writable.filter((w) => w !== path && isAtOrBelow(path, w)))
      for (const above of foldersBetween(folder, path)) pinned.add(above);
  return [
    ...[...pinned].sort().map((path): MountStep => ({ kind: "pin", path, ifThere: true })),
    ...hidden.map((path): MountStep => ({ kind: "hide", path, ifThere: true })),
  ];
}

function foldersBetween(outer: string, path: string): string[] {
  const parts = path.slice(outer === "/" ? 1 : outer.length + 1).split("/");
  const prefix = outer === "/" ? "" : outer;
  return parts.slice(0, -1).map((_, i) => `${prefix}/${parts.slice(0, i + 1).join("/")}`);
}
