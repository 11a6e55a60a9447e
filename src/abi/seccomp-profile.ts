import { errnoNumber, flagTable, syscallByName } from "./index.js";

/** Calls that a container needs although a trace of the program does not show them, and why. */
interface Needed {
  readonly why: string;
  readonly calls: string;
}

const NEEDED: readonly Needed[] = [
  {
    why: "crun loads the filter before it drops privileges, unless the container has noNewPrivileges",
    calls:
      "capset close close_range execve prctl rt_sigaction rt_sigprocmask setgroups setresgid setresuid write",
  },
  {
    why: "crun waits behind the filter between create and start, which podman and docker call separately",
    calls: "pselect6 read select",
  },
  {
    why: "runc loads the filter, drops privileges, closes descriptors and looks for the program",
    calls:
      "capget capset chdir close close_range dup3 execve faccessat2 fchdir fcntl fstat fstatfs getcwd getdents64 getpid getppid ioctl lseek newfstatat openat openat2 prctl prlimit64 read setgid setgroups setuid statfs statx umask write",
  },
  {
    why: "runc is written in Go: the threads of its runtime run on until execve",
    calls:
      "brk epoll_create1 epoll_ctl epoll_pwait exit futex getpid gettid madvise mmap mprotect munmap nanosleep rt_sigaction rt_sigprocmask rt_sigreturn sched_getaffinity sched_yield sigaltstack tgkill",
  },
  {
    why: "the C library of the image may start a program in another way than that of the traced machine",
    calls:
      "arch_prctl brk close fstat getegid geteuid getgid getuid mmap mprotect munmap newfstatat openat prlimit64 read rseq rt_sigprocmask set_robust_list set_tid_address",
  },
  {
    why: "the kernel repeats an interrupted call, returns from a signal handler",
    calls: "restart_syscall rt_sigreturn",
  },
  {
    why: "every program ends; the first process of a container reaps orphans",
    calls: "exit exit_group wait4",
  },
];

const ALWAYS = [...new Set(NEEDED.flatMap(({ calls }) => calls.split(" ")))];

/**
 * A seccomp profile of the OCI runtime specification (docker, podman, crun, runc): these calls, and the calls that starting
 * a container takes.
 */
export function seccompProfile(calls: Iterable<string>): string {
  const made = new Set([...calls].filter((name) => syscallByName(name) !== undefined));
  const profile = {
    defaultAction: "SCMP_ACT_ERRNO",
    defaultErrnoRet: errnoNumber("EPERM"),
    architectures: ["SCMP_ARCH_X86_64"],
    syscalls: [
      { names: [...new Set([...made, ...ALWAYS])].sort(), action: "SCMP_ACT_ALLOW" },
      ...threadRules(made),
    ],
  };
  return `${JSON.stringify(profile, null, 2)}\n`;
}

/**
 * The Go runtime of runc may start a thread at any time. Processes stay refused unless the program starts some. A filter
 * cannot see the flags of clone3: with ENOSYS the C library uses clone.
 */
function threadRules(made: ReadonlySet<string>): object[] {
  const flag = flagTable("clone").values.CLONE_THREAD;
  const rules: object[] = [];
  if (!made.has("clone"))
    rules.push({
      names: ["clone"],
      action: "SCMP_ACT_ALLOW",
      args: [{ index: 0, value: flag, valueTwo: flag, op: "SCMP_CMP_MASKED_EQ" }],
    });
  if (!made.has("clone3"))
    rules.push({ names: ["clone3"], action: "SCMP_ACT_ERRNO", errnoRet: errnoNumber("ENOSYS") });
  return rules;
}
