import { describe, expect, it } from "vitest";
import {
  type Argument,
  type ArgumentKind,
  CLASSES,
  FLAGS,
  type ReturnKind,
  SYSCALLS,
  type Syscall,
  syscallByNumber,
} from "../../src/abi/index.js";
import { machineNumbers } from "./headers.js";

const POINTERS = new Set<string>([
  "address",
  "path",
  "string",
  "buffer",
  "iovec",
  "sockaddr",
  "msghdr",
  "mmsghdr",
  "argv",
  "fds",
  "struct",
]);
const every = SYSCALLS.flatMap((row) => row.args.map((arg, index) => ({ row, arg, index })));
const where = (row: Syscall, arg: Argument) => `${row.name}(${arg.name})`;

describe("the system call table", () => {
  it("gives every call of this machine's unistd_64.h its number", () => {
    for (const [name, nr] of machineNumbers()) expect(syscallByNumber(nr)?.name, name).toBe(name);
  });

  it("has the calls of kernels newer than most headers", () => {
    const newer = {
      uretprobe: 335,
      uprobe: 336,
      cachestat: 451,
      fchmodat2: 452,
      mseal: 462,
      setxattrat: 463,
    };
    for (const [name, nr] of Object.entries({ ...newer, open_tree_attr: 467, file_setattr: 469 })) {
      expect(syscallByNumber(nr)?.name).toBe(name);
    }
    for (let nr = 424; nr <= 469; nr++) expect(syscallByNumber(nr), String(nr)).toBeDefined();
  });

  it("is ordered by number, without duplicates of number or name", () => {
    const numbers = SYSCALLS.map((row) => row.nr);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    expect(new Set(SYSCALLS.map((row) => row.name)).size).toBe(SYSCALLS.length);
  });

  it("has at most six arguments per call, and no name twice in one call", () => {
    for (const row of SYSCALLS) {
      expect(row.args.length, row.name).toBeLessThanOrEqual(6);
      expect(new Set(row.args.map((arg) => arg.name)).size, row.name).toBe(row.args.length);
    }
  });

  it("puts every call into at least one class, and only into classes that are described", () => {
    for (const row of SYSCALLS) {
      expect(row.classes.length, row.name).toBeGreaterThan(0);
      for (const cls of row.classes) expect(Object.keys(CLASSES), row.name).toContain(cls);
    }
  });

  it("leaves no described class empty", () => {
    const used = new Set(SYSCALLS.flatMap((row) => row.classes));
    expect(Object.keys(CLASSES).filter((cls) => !used.has(cls))).toEqual([]);
  });
});

describe("every argument", () => {
  it("is of a kind, and every call of a return kind, that the types know", () => {
    // The rows are JSON, which the compiler does not check; these records it does.
    const kinds: Record<ArgumentKind, true> = {
      int: true,
      uint: true,
      size: true,
      offset: true,
      flags: true,
      mode: true,
      fd: true,
      dirfd: true,
      pid: true,
      uid: true,
      gid: true,
      signal: true,
      address: true,
      path: true,
      string: true,
      buffer: true,
      iovec: true,
      sockaddr: true,
      msghdr: true,
      mmsghdr: true,
      argv: true,
      fds: true,
      struct: true,
    };
    const returns: Record<ReturnKind, true> = {
      zero: true,
      fd: true,
      count: true,
      pid: true,
      address: true,
      offset: true,
      flags: true,
      value: true,
      never: true,
    };
    const fields: Record<keyof Argument, true> = {
      name: true,
      kind: true,
      width: true,
      flags: true,
      direction: true,
      length: true,
      lengthIsPointer: true,
      filled: true,
      dirfd: true,
      follow: true,
      noFollowAll: true,
      how: true,
      creates: true,
      struct: true,
      size: true,
    };
    for (const row of SYSCALLS) expect(returns, row.name).toHaveProperty(row.returns);
    for (const { row, arg } of every) {
      expect(kinds, where(row, arg)).toHaveProperty(arg.kind);
      for (const field of Object.keys(arg)) expect(fields, where(row, arg)).toHaveProperty(field);
    }
  });

  it("that is a pointer takes the whole register, and an fd, pid, uid, gid, signal or mode half of it", () => {
    for (const { row, arg } of every) {
      if (POINTERS.has(arg.kind)) expect(arg.width, where(row, arg)).toBe(64);
      if (["fd", "dirfd", "pid", "uid", "gid", "signal", "mode"].includes(arg.kind)) {
        expect(arg.width, where(row, arg)).toBe(32);
      }
    }
  });

  it("with a length names a number of bytes or items, or a pointer to one", () => {
    for (const { row, arg, index } of every) {
      if (arg.length === undefined) continue;
      const length = row.args[arg.length];
      expect(length, where(row, arg)).toBeDefined();
      expect(arg.length).not.toBe(index);
      if (arg.lengthIsPointer) expect(length?.kind, where(row, arg)).toBe("struct");
      else expect(["size", "int", "uint"], where(row, arg)).toContain(length?.kind);
    }
  });

  it("that is a buffer, sockaddr, iovec or mmsghdr has a length", () => {
    for (const { row, arg } of every) {
      if (["buffer", "sockaddr", "iovec", "mmsghdr"].includes(arg.kind)) {
        expect(arg.length, where(row, arg)).toBeDefined();
      }
    }
  });

  it("that is a struct has a name and either a size or a length", () => {
    for (const { row, arg } of every) {
      if (arg.kind !== "struct") continue;
      expect(arg.struct, where(row, arg)).toBeTruthy();
      expect((arg.size ?? 0) > 0 || arg.length !== undefined, where(row, arg)).toBe(true);
    }
  });

  it("that is a path has a follow rule over a flags argument, and openat2's is in its struct", () => {
    for (const { row, arg } of every) {
      if (arg.kind !== "path") {
        expect([arg.follow, arg.dirfd, arg.creates], where(row, arg)).toEqual([
          undefined,
          undefined,
          undefined,
        ]);
        continue;
      }
      if (row.name === "openat2") {
        expect([arg.follow, arg.how]).toEqual([undefined, 2]);
        continue;
      }
      const [rule, index, mask] = arg.follow!.split(":");
      if (rule === "always" || rule === "never") continue;
      expect(["unless", "if"], where(row, arg)).toContain(rule);
      expect(row.args[Number(index)]?.kind, where(row, arg)).toBe("flags");
      expect(Number(mask), where(row, arg)).toBeGreaterThan(0);
    }
  });

  it("whose follow rule tests a flag tests one that its flag table has", () => {
    for (const { row, arg } of every) {
      for (const rule of [arg.follow, arg.noFollowAll && `all:${arg.noFollowAll}`]) {
        const [, index, mask] = rule?.split(":") ?? [];
        if (index === undefined) continue;
        const known = Object.values(FLAGS[row.args[Number(index)]!.flags!]!.values).reduce(
          (sum, bit) => sum | bit,
          0,
        );
        expect(known & Number(mask), where(row, arg)).toBe(Number(mask));
      }
    }
  });

  it("that has a dirfd points at one, and every dirfd is used by a path or a handle", () => {
    for (const { row, arg, index } of every) {
      if (arg.dirfd !== undefined) expect(row.args[arg.dirfd]?.kind, where(row, arg)).toBe("dirfd");
      if (arg.kind === "dirfd" && row.name !== "open_by_handle_at") {
        expect(
          row.args.some((other) => other.dirfd === index),
          where(row, arg),
        ).toBe(true);
      }
    }
  });

  it("that is of kind flags names a table, and the table exists", () => {
    for (const { row, arg } of every) {
      expect(arg.kind === "flags", where(row, arg)).toBe(arg.flags !== undefined);
      if (arg.flags !== undefined) expect(Object.keys(FLAGS), where(row, arg)).toContain(arg.flags);
    }
  });

  it("that is text or read-only has no direction out", () => {
    for (const { row, arg } of every) {
      if (["path", "string", "argv"].includes(arg.kind))
        expect(arg.direction, where(row, arg)).toBeUndefined();
      if (!POINTERS.has(arg.kind)) expect(arg.direction, where(row, arg)).toBeUndefined();
      if (arg.filled) expect(["out", "inout"], where(row, arg)).toContain(arg.direction);
    }
  });

  it("that the result fills belongs to a call that returns a count", () => {
    for (const { row, arg } of every) if (arg.filled) expect(row.returns, where(row, arg)).toBe("count");
  });
});

describe("classes", () => {
  const namesOf = (test: (row: Syscall) => boolean) => SYSCALLS.filter(test).map((row) => row.name);

  it("file holds every call that takes a path", () => {
    const withPath = namesOf((row) => row.args.some((arg) => arg.kind === "path"));
    const inFile = namesOf((row) => row.classes.includes("file"));
    expect(withPath.filter((name) => !inFile.includes(name))).toEqual([]);
    // These deal in paths without taking one as an argument.
    expect(inFile.filter((name) => !withPath.includes(name))).toEqual(["getcwd", "fsconfig"]);
  });

  it("desc holds every call that takes or returns a descriptor", () => {
    const touching = namesOf(
      (row) => row.returns === "fd" || row.args.some((arg) => ["fd", "dirfd", "fds"].includes(arg.kind)),
    );
    const inDesc = namesOf((row) => row.classes.includes("desc"));
    expect(touching.filter((name) => !inDesc.includes(name))).toEqual([]);
  });

  it("network holds every call that takes a socket address or message", () => {
    const touching = SYSCALLS.filter((row) =>
      row.args.some((arg) => ["sockaddr", "msghdr", "mmsghdr"].includes(arg.kind)),
    );
    for (const row of touching) expect(row.classes, row.name).toContain("network");
  });

  it("create holds every call that may make a file by path, except rename's", () => {
    for (const { row, arg } of every) {
      if (arg.creates)
        expect(
          row.classes.some((cls) => cls === "create" || cls === "rename"),
          row.name,
        ).toBe(true);
    }
  });

  it("cover what strace puts into its sets of the same name", () => {
    const strace = {
      process:
        "clone fork vfork execve exit wait4 kill rt_sigqueueinfo tkill exit_group tgkill waitid rt_tgsigqueueinfo execveat pidfd_send_signal clone3",
      signal:
        "rt_sigaction rt_sigprocmask rt_sigreturn pause kill rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack tkill tgkill signalfd signalfd4 rt_tgsigqueueinfo pidfd_send_signal io_uring_enter",
      ipc: "shmget shmat shmctl semget semop semctl shmdt msgget msgsnd msgrcv msgctl semtimedop",
      memory:
        "mmap mprotect munmap brk mremap msync mincore madvise shmat shmdt mlock munlock mlockall munlockall io_setup io_destroy remap_file_pages mbind set_mempolicy get_mempolicy migrate_pages move_pages mlock2 pkey_mprotect io_uring_register set_mempolicy_home_node map_shadow_stack mseal",
      credential:
        "getuid getgid setuid setgid geteuid getegid setreuid setregid getgroups setgroups setresuid getresuid setresgid getresgid setfsuid setfsgid capget capset prctl",
      time: "gettimeofday adjtimex settimeofday time clock_settime clock_gettime clock_getres clock_adjtime",
      network:
        "sendfile socket connect accept sendto recvfrom sendmsg recvmsg shutdown bind listen getsockname getpeername socketpair setsockopt getsockopt getpmsg putpmsg accept4 recvmmsg sendmmsg",
      stat: "stat fstat lstat newfstatat statx statfs fstatfs ustat",
    };
    for (const [cls, names] of Object.entries(strace)) {
      const ours = namesOf((row) => row.classes.includes(cls));
      expect(
        names.split(" ").filter((name) => !ours.includes(name)),
        cls,
      ).toEqual([]);
    }
  });
});
