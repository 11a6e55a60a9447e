import type { Attack } from "./attacks.js";
import type { System } from "./systems.js";

/** Attacks that are not held, and why. SECURITY.md tells of them; the table of `npm run attacks` shows them. */
const KNOWN: readonly (readonly [attack: RegExp, why: string])[] = [
  [/^only\/shebang$/, "a rule that permits a script permits the interpreter that it names"],
];

/** Policies that promise the goal `reach`, whatever the door and the fence. */
const SHIPPED = /-p (agent|untrusted|secrets) |hermes exec/;
const ARENA = /^hermes( notify| trace)? (none|standard|strict)$/;
const EVERYWHERE = /./;

/** Holes that are open today and are to be closed: each a line, taken out with what closes it. */
export const OPEN: readonly (readonly [attack: RegExp, system: RegExp, why: string])[] = [
  [/^harm\/peer-pidfd$/, EVERYWHERE, "a connect on behalf makes the supervisor the peer"],
  [
    /^harm\/limit-launcher$/,
    / strict$/,
    "the init of a strict fence can be limited: process 1 is none of ours to the rules",
  ],
  [/^connect\/abstract$/, /-p agent |hermes exec/, "Unix sockets are refused by a list of daemons"],
  [/^reach\/(daemon|tmux)/, /-p agent |hermes exec/, "Unix sockets are refused by a list of daemons"],
  [/^env\/(ptrace|process-vm-readv)$/, /-p agent /, "agent has no rule on looking into other processes"],
  [/^env\/shared-memory$/, SHIPPED, "no rule on System V objects of others"],
  [/^reach\/(posix-)?queue$/, SHIPPED, "no rule on System V and POSIX objects of others"],
  [
    /^reach\/(kill|stop|ptrace|process-vm)/,
    /-p agent /,
    "agent has no rule on signals and on looking into others",
  ],
  [/^reach\/hermit-setns/, /-p agent |hermes exec/, "no rule on namespaces of others"],
  [/^reach\/(cpus|limits)$/, SHIPPED, "no rule on limits and CPUs of others"],
  [/^reach\/kill-by-descriptor$/, EVERYWHERE, "F_SETOWN names a process, and no rule on signals sees it"],
  [/^reach\/(environ|memory)/, /-p (agent|secrets) |hermes exec/, "secrets.yaml misses /proc/*/task/*"],
  [
    /^reach\/(nameless|stdin|map-files|hermit-(root|cwd))/,
    SHIPPED,
    "links of /proc are followed as the supervisor",
  ],
  [
    /^reach\/(nameless|stdin|map-files|hermit-(root|cwd))/,
    ARENA,
    "links of /proc are followed as the supervisor",
  ],
  [/^reach\/terminal/, SHIPPED, "every terminal in /dev/pts may be written to"],
];

/** Why an escape is no news, or undefined. */
export function whyKnown({ name }: Attack, system: System): string | undefined {
  return (
    KNOWN.find(([attack]) => attack.test(name))?.[1] ??
    OPEN.find(([attack, of]) => attack.test(name) && of.test(system.name))?.[2]
  );
}

/**
 * Calls that the supervisor itself makes on what a program named (named.c), at most so many of a kind: it makes the program's
 * calls on its behalf. Nothing may be added; when a broker makes them, the table is empty.
 */
export const NAMED_BY_SUPERVISOR: Readonly<Record<string, number>> = {
  "bind: address by name": 2,
  "close: path by descriptor": 26,
  "close: process by descriptor": 49,
  "connect: address by name": 2,
  "faccessat2: process by descriptor": 3,
  "fchownat: path by descriptor": 1,
  "fcntl: path by descriptor": 4,
  "fcntl: process by descriptor": 12,
  "fstatfs: path by descriptor": 4,
  "fstatfs: process by descriptor": 9,
  "mkdirat: path by name": 1,
  "mknodat: path by name": 1,
  "newfstatat: path by descriptor": 57,
  "newfstatat: path by name": 1,
  "newfstatat: process by descriptor": 39,
  "openat2: path by name": 16,
  "openat2: process by descriptor": 2,
  "openat2: process by name": 4,
  "openat: path by descriptor": 4,
  "openat: path by name": 29,
  "openat: process by descriptor": 22,
  "openat: process by name": 19,
  "readlink: process by name": 1,
  "readlinkat: path by descriptor": 21,
  "readlinkat: process by descriptor": 5,
  "renameat2: path by name": 2,
  "sendmsg: address by name": 2,
  "statx: path by descriptor": 13,
  "symlinkat: path by name": 1,
  "unlinkat: path by name": 4,
  "utimensat: path by descriptor": 1,
};
