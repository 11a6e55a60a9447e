import type { Syscall } from "../../abi/index.js";

const PARTS = /^(get|set|send|recv|timer|clock|sched|mq|io)(?=[a-z])/;

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/**
 * A call's name as `on_syscall` sees it: "Connect", "Open", "OpenAt", "Execve", "SendTo", "RecvFrom". Words begin at
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
 * What a script that only has `on_syscall` sees, unless it sets `subscribe`. Every call that names something outside
 * the process (a path, a peer, a program, another process), and the plain read and write. Not the rest: calls on
 * what is already open are by far the most frequent, each costs a stop, and whether they may happen was decided
 * when it was opened.
 */
export const DEFAULT_SUBSCRIPTION: readonly string[] = [
  ...["%file", "%exec", "%connect", "%bind", "%accept", "socket", "read", "write"],
  ...["fork", "vfork", "clone", "clone3", "kill", "tkill", "tgkill", "pidfd_send_signal", "%ptrace"],
];
