/** Attacks that are not held, and why. SECURITY.md tells of them; the table of `npm run attacks` shows them. */
const KNOWN: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^only\/shebang$/, "a rule that permits a script permits the interpreter that it names"],
];

export function isKnown(name: string): boolean {
  return KNOWN.some(([pattern]) => pattern.test(name));
}
