import { HOLE, type Word } from "./script.js";

/**
 * Separates two texts of which only one is printed. It contains holes, so that only a program's name is tried both
 * ways.
 */
const EITHER = `${HOLE}\u0001${HOLE}`;

/** What `one || other` prints: either of the two. */
export function either(one: string, other: string): string {
  if (one === "" || other === "" || one === other) return one || other;
  return one.replace(/\n+$/, "") + EITHER + other;
}

/** Every command line that the words can mean. */
export function possibleCommands(argv: readonly Word[]): readonly (readonly Word[])[] {
  const [name, ...rest] = argv;
  if (!name?.text.includes(EITHER)) return [argv];
  return name.text.split(EITHER).map((text) => [{ ...name, text: text.trim() }, ...rest]);
}
