import type { Attack } from "./attacks.js";
import type { System } from "./systems.js";

/** Attacks that are not held, and why. SECURITY.md tells of them; the table of `npm run attacks` shows them. */
const KNOWN: readonly (readonly [attack: RegExp, why: string])[] = [
  [/^only\/shebang$/, "a rule that permits a script permits the interpreter that it names"],
];

/** Holes that are open today and are to be closed: each a line, taken out with what closes it. */
export const OPEN: readonly (readonly [attack: RegExp, system: RegExp, why: string])[] = [
  [
    /^harm\/limit-launcher$/,
    / strict$/,
    "the init of a strict fence can be limited: process 1 is none of ours to the rules",
  ],
  [
    /^reach\/hermit-cwd$/,
    /^hermes( notify| trace)? (none|standard)$|-p agent \w+ (none|standard)$/,
    "a file below a folder of another mount namespace, held open, is judged by a name that means another file here",
  ],
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
