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
 * Calls that the supervisor itself makes on what a program named (named.c), at most so many of a kind: it asks /proc who the
 * process is that a signal would reach, and which file a socket of the program is bound to, whose descriptor it has copied.
 * Nothing is opened, connected to or resolved by a name that the program gave: the broker does that.
 */
export const NAMED_BY_SUPERVISOR: Readonly<Record<string, number>> = {
  "close: path by descriptor": 1,
  "close: process by descriptor": 30,
  "newfstatat: path by descriptor": 1,
  "openat: process by name": 30,
  "readlink: process by name": 1,
};
