import { type ArgumentKind, SYSCALLS, type Syscall } from "../../abi/index.js";
import { callNumbers } from "../../abi/named.js";

/** Arguments whose memory must be read while the call waits, because it may change afterwards. */
const READ_AT_ONCE: ReadonlySet<ArgumentKind> = new Set(["path", "string", "argv", "sockaddr", "fds"]);

/** Calls that create or end processes, or that HERMES itself handles. */
const OURS: ReadonlySet<number> = new Set(
  callNumbers(
    "rt_sigreturn clone fork vfork execve exit ptrace prctl arch_prctl exit_group seccomp execveat clone3",
  ),
);

/**
 * True when a call can be recorded inside the program: its record needs no lookup while the call waits. Calls
 * that open files do not qualify, because their record names the opened file.
 */
function isRecordable({ nr, args, returns }: Syscall): boolean {
  return (
    returns !== "fd" &&
    returns !== "never" &&
    !OURS.has(nr) &&
    !args.some(({ kind }) => READ_AT_ONCE.has(kind))
  );
}

export const RECORDABLE: ReadonlySet<number> = new Set(SYSCALLS.filter(isRecordable).map(({ nr }) => nr));
