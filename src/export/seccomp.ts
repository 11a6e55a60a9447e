import { syscallByName } from "../abi/index.js";
import { HermesError } from "../errors.js";
import type { TraceRecord } from "../trace/records.js";
import type { Exporter } from "./exporter.js";

/** What container runtimes themselves call between putting the filter in force and running the program. */
const RUNTIME =
  "brk capget capset chdir close close_range dup3 epoll_create1 epoll_ctl epoll_pwait execve exit exit_group faccessat2 fchdir fcntl fstat fstatfs futex getcwd getdents64 getpid getppid gettid ioctl lseek madvise mmap mprotect munmap nanosleep newfstatat openat openat2 prctl prlimit64 read rt_sigaction rt_sigprocmask rt_sigreturn sched_yield setgid setgroups setuid statfs tgkill write".split(
    " ",
  );

/** A seccomp profile for OCI runtimes (docker, podman, runc): the calls that a trace shows, and no others. */
export class SeccompExporter implements Exporter {
  readonly #names = new Set<string>();

  add(record: TraceRecord): string {
    if (record.kind === "header" && record.events)
      throw new HermesError("EVENTS", {
        file: "--to seccomp",
        message: `this trace holds only ${record.events.slice(0, 5).join(", ")}${record.events.length > 5 ? " …" : ""}: a profile of it would refuse all else; record a run without --events`,
      });
    const refused = record.kind === "syscall" && (record.action === "deny" || record.action === "kill");
    if (record.kind === "syscall" && !refused && syscallByName(record.name)) this.#names.add(record.name);
    return "";
  }

  end(): string {
    return `${JSON.stringify(seccompProfile(this.#names), null, 2)}\n`;
  }
}

export function seccompProfile(names: Iterable<string>): object {
  return {
    defaultAction: "SCMP_ACT_ERRNO",
    defaultErrnoRet: 1,
    architectures: ["SCMP_ARCH_X86_64"],
    syscalls: [{ names: [...new Set([...names, ...RUNTIME])].sort(), action: "SCMP_ACT_ALLOW" }],
  };
}
