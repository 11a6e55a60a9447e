import type { Attack } from "./attacks.js";
import type { System } from "./systems.js";

/** Attacks that are not held, and why. SECURITY.md tells of them; the table of `npm run attacks` shows them. */
const KNOWN: readonly (readonly [attack: RegExp, why: string])[] = [
  [/^only\/shebang$/, "a rule that permits a script permits the interpreter that it names"],
];

/** Holes that are open today and are to be closed: each a line, taken out with what closes it. */
export const OPEN: readonly (readonly [attack: RegExp, system: RegExp, why: string])[] = [];

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
