/** Attacks that are not held yet, and why. SECURITY.md tells of them; the table of `npm run attacks` shows them. */
const KNOWN: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/\/race-/, "an allowed call uses the program's own memory, which somebody may have changed since"],
  [/^read\/openat2-in-root$/, "RESOLVE_IN_ROOT is not considered when a path is followed"],
  [
    /^(write\/bind-socket-symlink|connect\/unix-(symlink|proc-root|proc-fd|chroot))$/,
    "paths in addresses are text",
  ],
  [/^harm\/group-stop$/, "under load, a program that waits for the trace door looks as if it were stopped"],
  [/^(exec|only)\/(shebang.*|interpreter\.sh)$/, "the interpreter of a script or program is not seen"],
];

export function isKnown(name: string): boolean {
  return KNOWN.some(([pattern]) => pattern.test(name));
}
