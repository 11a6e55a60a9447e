import { CHANGES_INODE, syscallByName } from "../abi/index.js";
import type { CallEvent } from "../event.js";
import {
  argumentOf,
  CLONE_NEW,
  CLONE_NEWTIME,
  CLONE_THREAD,
  clones,
  creates,
  equals,
  FAN_MARK_MOUNT_OR_FILESYSTEM,
  hasAddress,
  hasBits,
  isExecutable,
  isFolder,
  isOverlay,
  isProcessOrGroup,
  MAP_ANONYMOUS,
  mountsPath,
  notEqual,
  O_PATH,
  otherThanSelf,
  PROT_EXEC,
  RLIMIT_CORE,
  raisesCoreLimit,
  reads,
  replaces,
  signalsOther,
  signalsOtherThread,
  swaps,
  truncates,
  writes,
} from "./deed-tests.js";
import type { Deed, Effect, On } from "./effects.js";

/**
 * Which calls have an effect, which argument it falls on, and under which flags. A call may have several rows: rename
 * takes something away at one path and puts it at another, and a policy judges each on its own.
 *
 * A row may carry several words. The broad one (`write`) comes with the narrow one (`chmod`), so that a rule may name
 * either. Where one row has two unrelated words, allowing either must be harmless.
 */

interface Row {
  readonly calls: string;
  readonly does: readonly Effect[];
  readonly on: On;
  readonly holds?: (bits: number, event: CallEvent) => boolean;
  readonly when?: Deed["when"];
  readonly subtree?: true;
  readonly why?: string;
}

const path = (argument: string): On => ({ kind: "path", argument });
const fd = (argument: string): On => ({ kind: "fd", argument });
const ADDRESS: On = { kind: "address" };
const PEER: On = { kind: "peer" };
const LOCAL: On = { kind: "local" };
const NOTHING: On = { kind: "nothing" };
const UNKNOWN: On = { kind: "unknown-file" };

const TABLE: readonly Row[] = [
  // Opening. Access is decided here, once; what is later read or written through the descriptor was decided with it.
  {
    calls: "open openat openat2",
    does: ["read"],
    on: path("filename"),
    holds: (f) => reads(f) && !isFolder(f),
  },
  {
    calls: "open openat openat2",
    does: ["read", "list"],
    on: path("filename"),
    holds: (f) => reads(f) && isFolder(f),
  },
  {
    calls: "open openat openat2",
    does: ["write"],
    on: path("filename"),
    holds: (f) => writes(f) && !creates(f) && !truncates(f),
  },
  {
    calls: "open openat openat2",
    does: ["create", "write"],
    on: path("filename"),
    holds: creates,
    why: "Whether the file is there already is not known before the call, and may change until it.",
  },
  { calls: "open openat openat2", does: ["truncate", "write"], on: path("filename"), holds: truncates },
  {
    calls: "open openat openat2",
    does: ["stat"],
    on: path("filename"),
    holds: (f) => (f & O_PATH) !== 0,
    why: "To read through an O_PATH handle it must be opened again, through /proc/self/fd, which is an open of the file.",
  },
  { calls: "creat", does: ["create", "write"], on: path("pathname") },
  { calls: "creat", does: ["truncate", "write"], on: path("pathname") },
  {
    calls: "open_by_handle_at",
    does: ["read"],
    on: UNKNOWN,
    holds: reads,
    why: "A handle names an inode, not a path: no rule on paths could be shown to allow it.",
  },
  { calls: "open_by_handle_at", does: ["write"], on: UNKNOWN, holds: (f) => writes(f) || truncates(f) },
  {
    calls: "getdents getdents64",
    does: ["list"],
    on: fd("fd"),
    why: "A folder may be opened without O_DIRECTORY.",
  },

  // Names that come and go.
  { calls: "mkdir mkdirat", does: ["mkdir", "create", "write"], on: path("pathname") },
  { calls: "mknod mknodat", does: ["mknod", "create", "write"], on: path("filename") },
  { calls: "unlink unlinkat rmdir", does: ["delete", "write"], on: path("pathname") },
  {
    calls: "rename renameat renameat2",
    does: ["rename", "delete", "write"],
    on: path("oldname"),
    subtree: true,
  },
  {
    calls: "rename renameat renameat2",
    does: ["rename", "read"],
    on: path("oldname"),
    subtree: true,
    why: "Under its new name a file could be read past a rule on the old one.",
  },
  {
    calls: "rename renameat renameat2",
    does: ["rename", "create", "write"],
    on: path("newname"),
    subtree: true,
  },
  {
    calls: "rename renameat renameat2",
    does: ["rename", "delete", "write"],
    on: path("newname"),
    holds: replaces,
    subtree: true,
    why: "What was there is gone.",
  },
  { calls: "renameat2", does: ["rename", "read"], on: path("newname"), holds: swaps, subtree: true },
  { calls: "link linkat", does: ["link", "create", "write"], on: path("newname") },
  { calls: "link linkat", does: ["link", "read"], on: path("oldname"), why: "As with rename." },
  {
    calls: "link linkat",
    does: ["link", "write"],
    on: path("oldname"),
    why: "Writing to the new name would change the old file.",
  },
  {
    calls: "rename renameat renameat2 link linkat",
    does: ["alias"],
    on: path("oldname"),
    subtree: true,
    why: "Rules that keep one program from running, or one socket from being reached, mean it by its name.",
  },
  {
    calls: "rename renameat renameat2 link linkat",
    does: ["alias"],
    on: { kind: "socket-at", argument: "oldname" },
  },
  { calls: "renameat2", does: ["alias"], on: path("newname"), holds: swaps, subtree: true },
  { calls: "symlink", does: ["symlink", "link", "create", "write"], on: path("new") },
  { calls: "symlinkat", does: ["symlink", "link", "create", "write"], on: path("newname") },

  // Length and attributes. The calls on descriptors count too: fchmod needs no more than a descriptor for reading.
  { calls: "truncate", does: ["truncate", "write"], on: path("path") },
  { calls: "ftruncate fallocate", does: ["truncate", "write"], on: fd("fd") },
  { calls: "chmod fchmodat fchmodat2", does: ["chmod", "write"], on: path("filename") },
  { calls: "fchmod", does: ["chmod", "write"], on: fd("fd") },
  { calls: "chown lchown fchownat", does: ["chown", "write"], on: path("filename") },
  { calls: "fchown", does: ["chown", "write"], on: fd("fd") },
  { calls: "utime utimes futimesat utimensat", does: ["touch", "write"], on: path("filename") },
  { calls: "setxattr lsetxattr removexattr lremovexattr", does: ["xattr", "write"], on: path("path") },
  { calls: "setxattrat removexattrat", does: ["xattr", "write"], on: path("pathname") },
  { calls: "fsetxattr fremovexattr", does: ["xattr", "write"], on: fd("fd") },
  { calls: "file_setattr", does: ["xattr", "write"], on: path("filename") },
  {
    calls: "ioctl",
    does: ["xattr", "write"],
    on: fd("fd"),
    holds: (_, event) => CHANGES_INODE.includes(Number(BigInt.asUintN(32, event.argument(1)))),
    when: CHANGES_INODE.map((cmd) => [equals(1, cmd)]),
  },
  {
    calls: "setrlimit",
    does: ["write"],
    on: UNKNOWN,
    holds: raisesCoreLimit("rlim"),
    when: [[equals(0, RLIMIT_CORE)]],
    why: "The kernel writes core dumps.",
  },
  {
    calls: "prlimit64",
    does: ["write"],
    on: UNKNOWN,
    holds: raisesCoreLimit("new_rlim"),
    when: [[equals(1, RLIMIT_CORE)]],
  },
  { calls: "acct", does: ["write"], on: path("name"), why: "The kernel writes its accounting there." },
  {
    calls: "swapon swapoff",
    does: ["write"],
    on: path("specialfile"),
    why: "The kernel writes memory there.",
  },

  // Asking. Calls on an open descriptor (fstat, fgetxattr) tell nothing that opening it did not give.
  {
    calls: "stat lstat access newfstatat faccessat faccessat2 file_getattr",
    does: ["stat"],
    on: path("filename"),
  },
  { calls: "statx statfs", does: ["stat"], on: path("path") },
  { calls: "readlink readlinkat", does: ["readlink", "stat"], on: path("path") },
  { calls: "getxattr lgetxattr listxattr llistxattr", does: ["getxattr", "stat"], on: path("path") },
  { calls: "getxattrat listxattrat", does: ["getxattr", "stat"], on: path("pathname") },
  {
    calls: "name_to_handle_at",
    does: ["stat"],
    on: path("name"),
    why: "open_by_handle_at is where a handle is used.",
  },
  { calls: "quotactl", does: ["stat"], on: path("special") },
  { calls: "chdir", does: ["chdir", "stat"], on: path("filename") },
  { calls: "fchdir", does: ["chdir", "stat"], on: fd("fd") },
  { calls: "inotify_add_watch", does: ["monitor", "stat"], on: path("path") },
  { calls: "fanotify_mark", does: ["monitor", "stat"], on: path("pathname") },
  {
    calls: "fanotify_mark",
    does: ["monitor", "read"],
    on: path("pathname"),
    subtree: true,
    why: "Its events carry descriptors of the files, open for reading.",
  },
  {
    calls: "fanotify_mark",
    does: ["monitor", "read"],
    on: UNKNOWN,
    holds: (flags) => (flags & FAN_MARK_MOUNT_OR_FILESYSTEM) !== 0,
  },

  // Programs. execve does not count as reading: the program's text is not handed out.
  { calls: "execve execveat", does: ["exec"], on: path("filename") },
  { calls: "uselib", does: ["exec", "load"], on: path("library") },
  {
    calls: "mmap",
    does: ["load"],
    on: fd("fd"),
    holds: (flags, event) => isExecutable(flags, event) && (flags & MAP_ANONYMOUS) === 0,
    when: [[hasBits(2, PROT_EXEC)]],
    why: "`ld.so ./program` and LD_PRELOAD run code without an execve of it.",
  },
  {
    calls: "mprotect pkey_mprotect",
    does: ["load"],
    on: { kind: "mapping", argument: "start" },
    holds: isExecutable,
    when: [[hasBits(2, PROT_EXEC)]],
    why: "What was mapped as data can be made code.",
  },

  // Network.
  { calls: "connect", does: ["connect"], on: ADDRESS },
  {
    calls: "sendto sendmsg sendmmsg",
    does: ["connect"],
    on: ADDRESS,
    holds: hasAddress,
    why: "A datagram goes where its address says, and MSG_FASTOPEN connects.",
  },
  { calls: "sendto sendmsg sendmmsg", does: ["send"], on: PEER },
  { calls: "recvfrom recvmsg recvmmsg", does: ["receive"], on: PEER },
  { calls: "bind", does: ["bind"], on: ADDRESS },
  {
    calls: "bind",
    does: ["create", "write"],
    on: { kind: "socket-file" },
    why: "Binding to a path makes a file there.",
  },
  {
    calls: "listen",
    does: ["bind"],
    on: LOCAL,
    why: "Listening without a bind takes a free port on every interface.",
  },
  { calls: "accept accept4", does: ["accept"], on: LOCAL },

  // What is mounted where. A bind mount is another name for a tree, as a link is for a file.
  { calls: "mount", does: ["mount", "write"], on: path("dir_name"), subtree: true },
  { calls: "mount", does: ["mount", "read"], on: path("dev_name"), holds: mountsPath, subtree: true },
  { calls: "mount", does: ["mount", "write"], on: path("dev_name"), holds: mountsPath, subtree: true },
  { calls: "mount", does: ["alias"], on: path("dev_name"), holds: mountsPath, subtree: true },
  { calls: "open_tree", does: ["alias"], on: path("path"), holds: clones, subtree: true },
  { calls: "open_tree_attr", does: ["alias"], on: path("filename"), holds: clones, subtree: true },
  {
    calls: "mount fsopen",
    does: ["mount", "read"],
    on: UNKNOWN,
    holds: isOverlay,
    why: "The folders that it shows are in its options.",
  },
  { calls: "mount fsopen", does: ["mount", "write"], on: UNKNOWN, holds: isOverlay },
  { calls: "umount2", does: ["mount", "write"], on: path("name"), subtree: true },
  { calls: "pivot_root", does: ["mount"], on: path("new_root"), subtree: true },
  { calls: "pivot_root", does: ["mount"], on: path("put_old"), subtree: true },
  { calls: "chroot", does: ["mount"], on: path("filename"), subtree: true },
  { calls: "move_mount", does: ["mount", "read"], on: path("from_path"), subtree: true },
  { calls: "move_mount", does: ["mount", "write"], on: path("from_path"), subtree: true },
  { calls: "move_mount", does: ["mount", "write"], on: path("to_path"), subtree: true },
  { calls: "open_tree", does: ["mount", "read"], on: path("path"), holds: clones, subtree: true },
  { calls: "open_tree", does: ["mount", "write"], on: path("path"), holds: clones, subtree: true },
  { calls: "open_tree_attr", does: ["mount", "read"], on: path("filename"), holds: clones, subtree: true },
  { calls: "open_tree_attr", does: ["mount", "write"], on: path("filename"), holds: clones, subtree: true },
  {
    calls: "open_tree",
    does: ["stat"],
    on: path("path"),
    holds: (f) => !clones(f),
    why: "As open with O_PATH.",
  },
  { calls: "open_tree_attr", does: ["stat"], on: path("filename"), holds: (f) => !clones(f) },
  { calls: "fspick mount_setattr", does: ["mount", "write"], on: path("path"), subtree: true },
  { calls: "fsopen fsconfig fsmount", does: ["mount"], on: NOTHING },

  // Processes.
  { calls: "kill rt_sigqueueinfo", does: ["signal"], on: NOTHING, holds: signalsOther("pid") },
  { calls: "tgkill rt_tgsigqueueinfo", does: ["signal"], on: NOTHING, holds: signalsOther("tgid") },
  { calls: "tkill", does: ["signal"], on: NOTHING, holds: signalsOtherThread },
  { calls: "pidfd_send_signal", does: ["signal"], on: NOTHING, holds: (_, e) => argumentOf(e, "sig") !== 0 },
  {
    calls: "pidfd_open",
    does: ["signal"],
    on: NOTHING,
    holds: otherThanSelf("pid"),
    why: "It is good for signals to whoever has the number now.",
  },
  {
    calls: "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp",
    does: ["ptrace"],
    on: NOTHING,
  },
  { calls: "perf_event_open", does: ["ptrace"], on: NOTHING, holds: otherThanSelf("pid") },
  {
    calls: "prlimit64",
    does: ["limit"],
    on: NOTHING,
    holds: (_, event) => event.argument(2) !== 0n && otherThanSelf("pid")(_, event),
    when: [[notEqual(0, 0)]],
  },
  {
    calls: "sched_setscheduler sched_setparam sched_setattr sched_setaffinity migrate_pages move_pages",
    does: ["limit"],
    on: NOTHING,
    holds: otherThanSelf("pid"),
    when: [[notEqual(0, 0)]],
  },
  {
    calls: "setpriority ioprio_set",
    does: ["limit"],
    on: NOTHING,
    holds: (_, event) => !(event.argument(1) === 0n && isProcessOrGroup(event)),
  },
  {
    calls: "shmget semget msgget",
    does: ["share"],
    on: NOTHING,
    when: [[notEqual(0, 0)]],
    holds: (_, event) => event.argument(0) !== 0n,
  },
  { calls: "shmat shmctl semop semtimedop semctl msgsnd msgrcv msgctl", does: ["share"], on: NOTHING },
  {
    calls: "pidfd_getfd",
    does: ["read"],
    on: UNKNOWN,
    why: "Another process's descriptor may be of any file.",
  },
  { calls: "pidfd_getfd", does: ["write"], on: UNKNOWN },
  { calls: "fork vfork", does: ["fork"], on: NOTHING },
  { calls: "clone clone3", does: ["fork"], on: NOTHING, holds: (f) => (f & CLONE_THREAD) === 0 },
  { calls: "clone clone3", does: ["namespace"], on: NOTHING, holds: (f) => (f & CLONE_NEW) !== 0 },
  {
    calls: "unshare",
    does: ["namespace"],
    on: NOTHING,
    holds: (f) => (f & (CLONE_NEW | CLONE_NEWTIME)) !== 0,
  },
  { calls: "setns", does: ["namespace"], on: NOTHING },
  {
    calls: "setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capset",
    does: ["setuid"],
    on: NOTHING,
  },
  { calls: "settimeofday clock_settime clock_adjtime adjtimex", does: ["settime"], on: NOTHING },

  // Data. Rules that let something go wrong (fault, modify) mean these too when they say read or write.
  { calls: "read pread64 readv preadv preadv2", does: ["read_data"], on: fd("fd") },
  { calls: "write pwrite64 writev pwritev pwritev2", does: ["write_data"], on: fd("fd") },
  { calls: "vmsplice", does: ["write_data"], on: fd("fd") },
  { calls: "sendfile", does: ["read_data"], on: fd("in_fd") },
  { calls: "sendfile", does: ["write_data"], on: fd("out_fd") },
  { calls: "splice copy_file_range", does: ["read_data"], on: fd("fd_in") },
  { calls: "splice copy_file_range", does: ["write_data"], on: fd("fd_out") },
  { calls: "tee", does: ["read_data"], on: fd("fdin") },
  { calls: "tee", does: ["write_data"], on: fd("fdout") },
  { calls: "fsync fdatasync sync_file_range syncfs", does: ["sync"], on: fd("fd") },
  { calls: "sync msync", does: ["sync"], on: NOTHING },
];

/** The names of these mean something else to each process, or nothing to anybody else: no answer stands for them. */
export const UNSETTLED: readonly string[] = ["/proc/**", "/memfd:*/**"];

/** Calls on one path, or on one descriptor: what they do to it depends on their flags, and on nothing else. */
export const ON_ONE_FILE: ReadonlySet<string> = new Set(
  [
    "open openat creat stat lstat access newfstatat faccessat faccessat2 statx readlink readlinkat statfs",
    "mkdir mkdirat unlink unlinkat rmdir truncate chmod fchmodat fchmodat2 chown lchown fchownat",
    "utime utimes futimesat utimensat getxattr lgetxattr listxattr llistxattr",
    "fchmod fchown ftruncate fallocate fsetxattr fremovexattr",
  ].flatMap((names) => names.split(" ")),
);

/** Every deed of the table, one call each. */
export const DEEDS: readonly Deed[] = TABLE.flatMap(({ calls, does, on, holds, when, subtree }) =>
  calls.split(" ").map((name) => {
    const call = syscallByName(name);
    if (!call) throw new Error(`effects: no system call ${name}`);
    return { call, does, on, ...(holds && { holds }), ...(when && { when }), ...(subtree && { subtree }) };
  }),
);

let byCall: Map<number, Deed[]> | undefined;

export function deedsOf(nr: number): readonly Deed[] {
  if (!byCall) {
    byCall = new Map();
    for (const deed of DEEDS) {
      const known = byCall.get(deed.call.nr);
      if (known) known.push(deed);
      else byCall.set(deed.call.nr, [deed]);
    }
  }
  return byCall.get(nr) ?? [];
}
