import type { MountStep } from "../kernel/fence-plan.js";
import { lies } from "./options.js";

/** What a strict fence's files are made of. All paths are absolute and without links. */
export interface Files {
  readonly writable: readonly string[];
  /** To be seen although something private is put over them. */
  readonly readable: readonly string[];
  readonly hidden: readonly string[];
  /** Whether names of hosts are to be looked up. */
  readonly hostNetwork: boolean;
}

const OPEN_TO_ALL = "mode=1777";
const TEMPORARY = ["/tmp", "/var/tmp"];
/** Folders that are the program's own, and start empty: sockets and files of others are not for it. */
const PRIVATE = [...TEMPORARY, "/run", "/dev"];
const DEVICES = ["null", "zero", "full", "random", "urandom", "tty"];
const RESOLVER = "/run/systemd/resolve";
/** Kernel settings: root could change them without any capability. */
const KERNEL_SETTINGS = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"];
/** What tells of the machine and of other users. */
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

/** Where a program under a strict fence may write, besides what it is given. */
export const ALWAYS_WRITABLE = [...TEMPORARY, "/dev/shm", "/dev/mqueue"];

/** Whether a path is one of those that the program has for itself. */
export function isPrivate(path: string): boolean {
  return PRIVATE.includes(path) || lies(path, "/dev") || lies(path, "/proc");
}

/** Step by step, what the program sees. */
export function mountSteps(files: Files): MountStep[] {
  const everything = files.writable.includes("/");
  return [
    ...(everything ? [] : [{ kind: "readOnly", path: "/" } as const]),
    ...TEMPORARY.map((path): MountStep => ({ kind: "tmpfs", path, data: OPEN_TO_ALL, ifThere: true })),
    { kind: "tmpfs", path: "/run", data: "mode=0755", ifThere: true },
    ...(files.hostNetwork ? [{ kind: "exposeReadOnly", path: RESOLVER, ifThere: true } as const] : []),
    ...devices(),
    ...kernel(),
    ...exposed(files),
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

/** Outer folders first, so that what is said of an inner one holds. */
function exposed({ writable, readable }: Files): MountStep[] {
  const covered = readable.filter((path) => PRIVATE.some((folder) => lies(path, folder)));
  const unwritten = covered.filter((path) => !writable.some((folder) => lies(path, folder)));
  return [
    ...unwritten.map((path): MountStep => ({ kind: "exposeReadOnly", path })),
    ...writable.filter((path) => path !== "/").map((path): MountStep => ({ kind: "expose", path })),
  ].sort((a, b) => a.path.length - b.path.length);
}

/**
 * A mount cannot be renamed or removed, but the folders above it can, and then another file of that name could be put
 * in its place. So those of them that the program may write to are mounts as well.
 */
function hidden({ writable, hidden }: Files): MountStep[] {
  const pinned = new Set<string>();
  for (const path of hidden)
    for (const folder of writable.filter((w) => w !== path && lies(path, w)))
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
