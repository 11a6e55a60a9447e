import type { Syscall } from "../../abi/index.js";

const PARTS = /^(get|set|send|recv|timer|clock|sched|mq|io)(?=[a-z])/;

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/**
 * A call's name for `on_syscall`: "Connect", "Open", "OpenAt", "Execve", "SendTo", "RecvFrom". Words begin at
 * underscores, after get, set, send and recv, and at the `at` of the calls that take a directory.
 */
export function camelName(call: Syscall): string {
  return call.name
    .split("_")
    .flatMap((word) => word.replace(PARTS, "$1 ").split(" "))
    .map((word) => (call.args.some((a) => a.kind === "dirfd") ? word.replace(/at(2?)$/, "At$1") : word))
    .map(capital)
    .join("");
}

/**
 * The default subscription of a script that has only `on_syscall`, unless it sets `subscribe`: every call
 * that names an object outside the process (a path, a peer, a program, another process), and the plain read
 * and write. Calls on open descriptors are left out. They are by far the most frequent, each costs a stop,
 * and they were decided at the open.
 */
export const DEFAULT_SUBSCRIPTION: readonly string[] = [
  ...["%file", "%exec", "%connect", "%bind", "%accept", "socket", "read", "write"],
  ...["fork", "vfork", "clone", "clone3", "kill", "tkill", "tgkill", "pidfd_send_signal", "%ptrace"],
];
