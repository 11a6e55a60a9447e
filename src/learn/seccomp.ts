import type { Observations } from "./observations.js";

/** What a container's runtime and the C library need around the program, whatever it does. */
const ALWAYS =
  "arch_prctl brk capget capset chdir clone clone3 close close_range execve exit exit_group fchdir fcntl fstat fstatfs futex getdents64 getegid geteuid getgid getpid getppid gettid getuid mmap mprotect munmap newfstatat openat prctl prlimit64 read restart_syscall rseq rt_sigaction rt_sigprocmask rt_sigreturn sched_getaffinity set_robust_list set_tid_address setgid setgroups setuid sigaltstack statx umask wait4 write".split(
    " ",
  );

/** A seccomp profile of the OCI runtime specification: the calls that were made, and no others. */
export function seccompProfile({ calls }: Observations): string {
  const profile = {
    defaultAction: "SCMP_ACT_ERRNO",
    defaultErrnoRet: 1,
    architectures: ["SCMP_ARCH_X86_64"],
    syscalls: [{ names: [...new Set([...ALWAYS, ...calls])].sort(), action: "SCMP_ACT_ALLOW" }],
  };
  return `${JSON.stringify(profile, null, 2)}\n`;
}
