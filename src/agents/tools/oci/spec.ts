import type { ContainerPlan } from "./plan.js";

/** A mount of the OCI runtime specification. */
export interface SpecMount {
  readonly destination: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

/** Parts of /proc and /sys that belong to the host: every container hides them or makes them read-only. */
const MASKED = ["acpi", "asound", "kcore", "keys", "latency_stats", "sched_debug", "scsi", "timer_list"];
const READ_ONLY = ["bus", "fs", "irq", "sys", "sysrq-trigger"];

const mount = (destination: string, type: string, ...options: string[]): SpecMount => ({
  destination,
  type,
  source: type,
  options: ["nosuid", ...options],
});

const SYSTEM = [
  mount("/proc", "proc", "noexec", "nodev"),
  mount("/sys", "sysfs", "noexec", "nodev", "ro"),
  mount("/dev", "tmpfs", "strictatime", "mode=755", "size=65536k"),
  mount("/dev/pts", "devpts", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"),
  mount("/dev/shm", "tmpfs", "noexec", "nodev", "mode=1777", "size=65536k"),
  mount("/tmp", "tmpfs", "nodev", "mode=1777"),
];
const CGROUP = mount("/sys/fs/cgroup", "cgroup", "noexec", "nodev", "ro");

export function bindMount(source: string, destination: string, access: "ro" | "rw"): SpecMount {
  return { destination, type: "bind", source, options: ["rbind", access, "nosuid", "nodev"] };
}

/** config.json of the OCI runtime specification, for crun and runc. */
export function specFor(
  plan: ContainerPlan,
  root: { readonly path: string; readonly mounts: readonly SpecMount[] },
  limits: "set" | "none",
): object {
  const { uid, gid } = plan.user;
  // An ordinary user can map one id, and runtimes require that to be 0: root in name only.
  const rootless = uid !== 0;
  const asRoot = (id: number) => [{ containerID: 0, hostID: id, size: 1 }];
  const none: string[] = [];
  return {
    ociVersion: "1.0.2",
    hostname: "hermes",
    root: { path: root.path, readonly: plan.readOnly },
    process: {
      terminal: false,
      user: rootless ? { uid: 0, gid: 0 } : { uid, gid },
      args: plan.command,
      env: Object.entries(plan.env).map(([name, value]) => `${name}=${value}`),
      cwd: "/",
      capabilities: { bounding: none, effective: none, permitted: none, inheritable: none, ambient: none },
      noNewPrivileges: true,
    },
    mounts: [
      ...root.mounts,
      ...SYSTEM,
      ...(limits === "set" ? [CGROUP] : []),
      ...plan.mounts.map(({ source, target, writable }) => bindMount(source, target, writable ? "rw" : "ro")),
    ],
    linux: {
      namespaces: ["pid", "ipc", "uts", "mount", "network", "cgroup", ...(rootless ? ["user"] : [])].map(
        (type) => ({ type }),
      ),
      ...(rootless && { uidMappings: asRoot(uid), gidMappings: asRoot(gid) }),
      ...(limits === "set" && {
        cgroupsPath: `/${plan.name}`,
        resources: {
          devices: [{ allow: false, access: "rwm" }],
          memory: { limit: plan.memory, swap: plan.memory },
          pids: { limit: plan.pids },
          cpu: { shares: plan.cpuShares },
        },
      }),
      maskedPaths: [...MASKED.map((name) => `/proc/${name}`), "/sys/firmware"],
      readonlyPaths: READ_ONLY.map((name) => `/proc/${name}`),
    },
  };
}
