import type { Syscall } from "./syscall.js";

/**
 * A call is decided on a copy of the memory that its arguments point at. When it then happens as the program made it, the
 * kernel reads that memory once more, and another thread may have changed it. This table says of every call with such
 * arguments what keeps a decision true.
 */
export const REREAD = {
  "on behalf": "The supervisor makes it with the copy that was decided on (native/on-behalf/).",
  absent: "Where a policy decides on it, it fails with ENOSYS, and libraries fall back to an older call.",
  verified: "What really runs is judged once more, before its first instruction.",
  refused: "It is refused where a policy's answer depends on its paths or texts.",
  leads: "It gives access to nothing: policies judge each later call by where it leads.",
  data: "Nothing but a script looks at this memory, and what it sees may change before the kernel reads it.",
} as const;
export type Reread = keyof typeof REREAD;

const ON_FILES = [
  "open openat openat2 creat",
  "stat lstat newfstatat statx statfs access faccessat faccessat2 readlink readlinkat",
  "mkdir mkdirat mknod mknodat unlink unlinkat rmdir",
  "rename renameat renameat2 link linkat symlink symlinkat",
  "chmod fchmodat fchmodat2 chown lchown fchownat truncate utime utimes futimesat utimensat",
  "setxattr lsetxattr getxattr lgetxattr listxattr llistxattr removexattr lremovexattr",
  "name_to_handle_at inotify_add_watch fanotify_mark",
];
/** On what the descriptor referred to when it was decided on. */
export const ON_DESCRIPTORS =
  "fchmod fchown ftruncate fallocate fsetxattr fremovexattr ioctl pidfd_send_signal";
export const ON_SOCKETS = "connect bind sendto sendmsg sendmmsg";
const ON_LIMITS = "setrlimit prlimit64";

const TABLE: readonly (readonly [Reread, string])[] = [
  ["on behalf", [...ON_FILES, ON_DESCRIPTORS, ON_SOCKETS, ON_LIMITS].join(" ")],
  ["absent", "clone3 setxattrat getxattrat listxattrat removexattrat file_getattr file_setattr"],
  ["verified", "execve execveat"],
  ["refused", "mount umount2 pivot_root move_mount open_tree open_tree_attr fspick mount_setattr"],
  ["refused", "fsopen fsconfig acct swapon swapoff quotactl uselib"],
  ["leads", "chdir chroot"],
];
const BY_NAME: ReadonlyMap<string, Reread> = new Map(
  TABLE.flatMap(([how, names]) => names.split(" ").map((name) => [name, how] as const)),
);

/** What becomes of a decision on this call's memory. */
export function rereadOf({ name }: Syscall): Reread {
  return BY_NAME.get(name) ?? "data";
}
