import { type ArgumentKind, SYSCALLS, type Syscall } from "../abi/index.js";

/** To be read of memory while the call waits, or it may be another thing by the time we look. */
const READ_AT_ONCE: ReadonlySet<ArgumentKind> = new Set(["path", "string", "argv", "sockaddr", "fds"]);

/** What makes processes, ends them, or concerns us: fork, exec, exit, sigreturn, prctl, arch_prctl, ptrace, seccomp. */
const OURS: ReadonlySet<number> = new Set([15, 56, 57, 58, 59, 60, 101, 157, 158, 231, 317, 322, 435]);

/**
 * Whether a call can be recorded where it is made: nothing that its record says has to be looked up while it waits. What
 * opens something is not among them, since the record says what was opened.
 */
export function isRecordable({ nr, args, returns }: Syscall): boolean {
  return (
    returns !== "fd" &&
    returns !== "never" &&
    !OURS.has(nr) &&
    !args.some(({ kind }) => READ_AT_ONCE.has(kind))
  );
}

export const RECORDABLE: ReadonlySet<number> = new Set(SYSCALLS.filter(isRecordable).map(({ nr }) => nr));
