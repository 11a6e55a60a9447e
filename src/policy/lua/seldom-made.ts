import { syscallByName } from "../../abi/index.js";

/** Calls that the C library makes another way than their names suggest. */
const SELDOM = [
  { rare: "open", usual: "openat", instead: '"%open"' },
  { rare: "stat", usual: "newfstatat", instead: '"%stat"' },
  { rare: "fork", usual: "clone", instead: '"clone" and "clone3"' },
].map(({ rare, usual, instead }) => ({
  rare: syscallByName(rare)!.nr,
  usual: syscallByName(usual)!.nr,
  text: `programs seldom make the call ${rare}: the C library makes ${usual}. Name ${instead} as well`,
}));

/** What to say of a script that names such a call alone. */
export function seldomMade(isNamed: (nr: number) => boolean): readonly string[] {
  return SELDOM.filter(({ rare, usual }) => isNamed(rare) && !isNamed(usual)).map(({ text }) => text);
}
