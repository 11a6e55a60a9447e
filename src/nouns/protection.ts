import { errnoName } from "../abi/index.js";

/** The fence levels, weakest first. */
export const LEVELS = ["none", "standard", "strict"] as const;
export type FenceLevel = (typeof LEVELS)[number];

/** One protection: its name, what it does, and what usually makes it unavailable. */
interface Protection {
  readonly name: string;
  /**
   * The lowest level that includes it. Without a level, the protection is added only when an option asks for
   * it.
   */
  readonly from?: "standard" | "strict";
  readonly what: string;
  /** What to tell the user for an errno. */
  readonly why?: Readonly<Record<string, string>>;
}

const NO_NAMESPACE =
  "this user may not create namespaces here (a container, user.max_user_namespaces, kernel.unprivileged_userns_clone or AppArmor forbids it)";
const NAMESPACE = {
  EPERM: NO_NAMESPACE,
  EACCES: NO_NAMESPACE,
  ENOSPC: NO_NAMESPACE,
  EINVAL: "the kernel was built without it",
};

/** In the order of enum protection in native/protocol/plan.h: the index is the bit number. */
export const PROTECTIONS = [
  {
    name: "user_namespace",
    from: "strict",
    what: "privileges that the program has end at the fence",
    why: NAMESPACE,
  },
  {
    name: "pid_namespace",
    from: "strict",
    what: "the program sees only its own processes, which end when it ends",
    why: { ...NAMESPACE, EPERM: "it needs a new /proc, which cannot be mounted here, as in most containers" },
  },
  { name: "mount_namespace", from: "strict", what: "files are read-only, private or hidden", why: NAMESPACE },
  {
    name: "ipc_namespace",
    from: "strict",
    what: "the program shares no named memory or queues with others",
    why: NAMESPACE,
  },
  {
    name: "net_namespace",
    from: "strict",
    what: "the program has its own loopback and no network",
    why: NAMESPACE,
  },
  { name: "uts_namespace", from: "strict", what: "the program cannot rename the host", why: NAMESPACE },
  {
    name: "cgroup_namespace",
    from: "strict",
    what: "the program does not see where its cgroup lies",
    why: NAMESPACE,
  },
  {
    name: "no_nesting",
    from: "strict",
    what: "the program cannot create user namespaces",
    why: { EPERM: "the program runs in no user namespace of its own", EROFS: "/proc/sys is read-only here" },
  },
  {
    name: "keyring",
    from: "standard",
    what: "a session keyring of its own",
    why: {
      ENOSYS: "the kernel has no keyrings",
      EPERM: "a container's filter forbids it",
      EDQUOT: "the user's quota of keys is used up",
    },
  },
  { name: "capabilities", from: "strict", what: "all capabilities are dropped for good" },
  {
    name: "landlock",
    from: "strict",
    what: "files may be changed (and, if asked for, read) only where that is allowed",
    why: {
      ENOSYS: "the kernel has no Landlock (5.13 and later have)",
      EOPNOTSUPP: "Landlock is off: add it to lsm= on the kernel's command line",
    },
  },
  { name: "cgroup", what: "limits of memory, processes and CPU" },
  {
    name: "no_administration",
    what: "root cannot mount, load modules, or look into the kernel and into processes outside",
    why: { EPERM: "this root may not give up its capabilities" },
  },
  {
    name: "view",
    what: "files that rules refuse to read are hidden, so that reading needs no decision",
    why: {
      EACCES: "some of the files cannot be covered by a mount",
      EPERM: "some of the files cannot be covered by a mount",
    },
  },
] as const satisfies readonly Protection[];

export type ProtectionName = (typeof PROTECTIONS)[number]["name"];

/** Names for groups of protections. */
export const GROUPS: Readonly<Record<string, readonly ProtectionName[]>> = {
  namespaces: [
    "pid_namespace",
    "mount_namespace",
    "ipc_namespace",
    "net_namespace",
    "uts_namespace",
    "cgroup_namespace",
  ],
};

/** The names that `requires:` and `--require` accept. */
export const REQUIRABLE: readonly string[] = [
  "notify",
  "trace",
  "no_new_privs",
  "fence",
  ...Object.keys(GROUPS),
  ...PROTECTIONS.map(({ name }) => name),
];

function place(name: ProtectionName): number {
  return PROTECTIONS.findIndex((protection) => protection.name === name);
}

export function protectionBit(name: ProtectionName): number {
  return 1 << place(name);
}

export function atLeast(level: FenceLevel, wanted: FenceLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(wanted);
}

/** Why a requested protection is unavailable, from the errnos of all protections. */
export function whyNot(name: ProtectionName, errnos: readonly number[]): string {
  // Without a mount namespace a pid namespace has no /proc of its own. So report the mount namespace's errno.
  const cause = name === "pid_namespace" && errnos[place("mount_namespace")] ? "mount_namespace" : name;
  const errno = errnos[place(cause)] ?? 0;
  const text = errnoName(errno) ?? `errno ${errno}`;
  const protection: Protection | undefined = PROTECTIONS[place(cause)];
  return protection?.why?.[text] ?? text;
}
