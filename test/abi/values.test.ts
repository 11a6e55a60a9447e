import { describe, expect, it } from "vitest";
import { ERRNOS } from "../../src/abi/errnos.generated.js";
import { FLAGS, SYSCALLS, signalName, signalNumber } from "../../src/abi/index.js";
import { evaluateC } from "./headers.js";

/** The C library's own headers, not the kernel's that the tables are generated from. */
const INCLUDES = [
  "dirent.h",
  "errno.h",
  "fcntl.h",
  "netinet/in.h",
  "netinet/tcp.h",
  "poll.h",
  "sched.h",
  "signal.h",
  "sys/epoll.h",
  "sys/eventfd.h",
  "sys/fanotify.h",
  "sys/file.h",
  "sys/inotify.h",
  "sys/ioctl.h",
  "sys/ipc.h",
  "sys/mman.h",
  "sys/mount.h",
  "sys/msg.h",
  "sys/personality.h",
  "sys/poll.h",
  "sys/prctl.h",
  "sys/ptrace.h",
  "sys/random.h",
  "sys/resource.h",
  "sys/select.h",
  "sys/sem.h",
  "sys/shm.h",
  "sys/signalfd.h",
  "sys/socket.h",
  "sys/stat.h",
  "sys/statfs.h",
  "sys/sysinfo.h",
  "sys/time.h",
  "sys/timerfd.h",
  "sys/times.h",
  "sys/timex.h",
  "sys/types.h",
  "sys/uio.h",
  "sys/utsname.h",
  "sys/wait.h",
  "sys/xattr.h",
  "time.h",
  "unistd.h",
  "utime.h",
  "mqueue.h",
];

/** Names that the C library gives another value or meaning than the kernel. */
const DIFFERENT = new Set([
  "O_LARGEFILE", // 0 in a 64-bit program
]);
/** Macros that need a struct these headers do not have. */
const INCOMPLETE = /^(TC[GS]ETS[WF]?2|TIOC[GS]ISO7816)$/;

describe("flag values", () => {
  const names = new Map<string, { table: string; value: number }[]>();
  for (const [table, { values }] of Object.entries(FLAGS)) {
    for (const [name, value] of Object.entries(values)) {
      names.set(name, [...(names.get(name) ?? []), { table, value }]);
    }
  }

  it("are the C library's wherever it has a macro of that name", () => {
    const wanted = [...names.keys()].filter((name) => !DIFFERENT.has(name) && !INCOMPLETE.test(name));
    const found = evaluateC(INCLUDES, Object.fromEntries(wanted.map((name) => [name, name])));
    expect(found.size).toBeGreaterThan(500);
    for (const [name, theirs] of found) {
      for (const { table, value } of names.get(name)!) {
        // INT_MIN-like macros (EPOLLET, __WCLONE) are the same 32 bits with another sign.
        expect(value >>> 0, `${table}: ${name}`).toBe(theirs >>> 0);
      }
    }
  });

  it("in bit sets are whole bits: no two names share a single bit", () => {
    for (const [table, { kind, values, enumMask = 0 }] of Object.entries(FLAGS)) {
      if (kind !== "bits") continue;
      const single = Object.entries(values).filter(
        ([, value]) => !(value & enumMask) && value && Number.isInteger(Math.log2(value)),
      );
      expect(new Set(single.map(([, value]) => value)).size, table).toBe(single.length);
    }
  });
});

describe("struct sizes", () => {
  /** Our name -> the C library's type of the same layout. */
  const types: Record<string, string> = {
    stat: "struct stat",
    statx: "struct statx",
    statfs: "struct statfs",
    timespec: "struct timespec",
    timeval: "struct timeval",
    itimerval: "struct itimerval",
    itimerspec: "struct itimerspec",
    timex: "struct timex",
    timezone: "struct timezone",
    rusage: "struct rusage",
    rlimit: "struct rlimit",
    rlimit64: "struct rlimit64",
    sysinfo: "struct sysinfo",
    new_utsname: "struct utsname",
    tms: "struct tms",
    utimbuf: "struct utimbuf",
    siginfo: "siginfo_t",
    stack: "stack_t",
    sigevent: "struct sigevent",
    pollfd: "struct pollfd",
    epoll_event: "struct epoll_event",
    fd_set: "fd_set",
    sembuf: "struct sembuf",
    msqid_ds: "struct msqid_ds",
    shmid_ds: "struct shmid_ds",
    mq_attr: "struct mq_attr",
    sched_param: "struct sched_param",
    file_handle: "struct file_handle",
    loff_t: "loff_t",
    size_t: "size_t",
    uid_t: "uid_t",
    gid_t: "gid_t",
    time_t: "time_t",
    int: "int",
    "timespec[2]": "struct timespec[2]",
  };
  const ours = new Map(
    SYSCALLS.flatMap((row) => row.args)
      .filter((arg) => arg.struct && arg.size)
      .map((arg) => [arg.struct!, arg.size!]),
  );

  it("are the C library's wherever the layouts are the same", () => {
    const keys = Object.keys(types);
    const theirs = evaluateC(
      INCLUDES,
      Object.fromEntries(keys.map((key, index) => [`s${index}`, `sizeof(${types[key]})`])),
    );
    for (const [index, key] of keys.entries()) expect(ours.get(key), key).toBe(theirs.get(`s${index}`));
  });

  it("are the kernel's where the C library's differ", () => {
    // The kernel's sigset has 64 bits, the C library's 1024; its sigaction ends with such a set.
    expect(ours.get("sigset")).toBe(8);
    expect(ours.get("sigaction")).toBe(32);
  });

  it("are one per name", () => {
    for (const row of SYSCALLS) {
      for (const arg of row.args)
        if (arg.struct && arg.size) expect(arg.size, `${row.name}(${arg.name})`).toBe(ours.get(arg.struct));
    }
  });
});

describe("errnos and signals", () => {
  it("have the C library's numbers", () => {
    const found = evaluateC(["errno.h"], Object.fromEntries(ERRNOS.map(([, name]) => [name, name])));
    expect(found.size).toBeGreaterThan(130);
    for (const [number, name] of ERRNOS) if (number < 500) expect(number, name).toBe(found.get(name));
  });

  it("number every signal from 1 to 64 as the C library does", () => {
    const names = Array.from({ length: 31 }, (_, index) => signalName(index + 1)!);
    const found = evaluateC(["signal.h"], Object.fromEntries(names.map((name) => [name, name])));
    expect(found.size).toBe(31);
    for (const [name, number] of found) expect(signalNumber(name), name).toBe(number);
    const range = evaluateC(["signal.h"], { min: "SIGRTMIN", max: "SIGRTMAX" });
    expect([signalNumber("SIGRTMIN"), signalNumber("SIGRTMAX")]).toEqual([
      range.get("min"),
      range.get("max"),
    ]);
  });
});
