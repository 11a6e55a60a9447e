/** Attacks that are not held yet, and why. SECURITY.md tells of them; the table of `npm run attacks` shows them. */
const KNOWN: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^exec\/race-/, "what execve is given is read by the kernel after it was decided on"],
  [/^(exec|only)\/(shebang.*|interpreter\.sh)$/, "the interpreter of a script or program is not seen"],
];

export function isKnown(name: string): boolean {
  return KNOWN.some(([pattern]) => pattern.test(name));
}
