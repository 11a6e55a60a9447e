import { expect, it } from "vitest";
import { PathAutomaton } from "../../src/policy/match/automaton.js";
import { compileGlob, type Glob, matchGlob, split } from "../../src/policy/match/glob.js";
import { Random } from "../support/random.js";

const STATES = 4096;
const WIDTH = 128;
const table = (states = STATES) => ({ next: new Uint16Array(states * WIDTH), states, width: WIDTH });
const matching = (globs: readonly Glob[], path: string) =>
  globs.map((glob) => Number(matchGlob(glob, split(path)))).join("");

/** As native/fastpath/verdict-lookup.c walks it. */
function walk(next: Uint16Array, path: string): number {
  let state = 1;
  for (const byte of Buffer.from(path)) state = byte < WIDTH ? next[state * WIDTH + byte]! : 0;
  return state;
}

const random = new Random(11);
const one = <T>(list: readonly T[]) => list[random.below(list.length)]!;
const some = (most: number, make: () => string) => Array.from({ length: 1 + random.below(most) }, make);
const name = () => some(4, () => one(["a", "b", ".", "é", "ab"])).join("");
const piece = () => one(["a", "b", ".", "*", "?", "[ab]", "[!a]", "[a-c.]", "é", "\\*"]);
const component = () => (random.below(4) === 0 ? "**" : some(4, piece).join(""));
const plain = (text: string) => text.replaceAll(/\*{2,}/g, "*");
const pattern = () =>
  `/${some(4, () => {
    const part = component();
    return part === "**" ? part : plain(part);
  })
    .filter((part) => part !== "." && part !== "..")
    .join("/")}`;

it("tells paths apart exactly as the patterns do", () => {
  for (let round = 0; round < 150; round++) {
    const globs = some(8, pattern)
      .filter((text) => text !== "/")
      .map(compileGlob);
    const excluded = random.below(3) === 0 ? globs.splice(0, 1) : [];
    const shared = table();
    const automaton = new PathAutomaton(globs, excluded, shared);
    const byState = new Map<number, string>();
    for (let i = 0; i < 200; i++) {
      const path = `/${some(4, name)
        .filter((part) => part !== "." && part !== "..")
        .join("/")}`;
      const state = automaton.follow(path);
      const isPlain = path !== "/" && /^[\x01-\x7f]+$/.test(path);
      const isExcluded = excluded.some((glob) => matchGlob(glob, split(path)));
      expect(state !== 0, `${path} in ${globs.map(({ text }) => text)}`).toBe(isPlain && !isExcluded);
      if (state === 0) continue;
      expect(walk(shared.next, path)).toBe(state);
      const matched = matching(globs, path);
      expect(byState.get(state) ?? matched, `${path} in ${globs.map(({ text }) => text)}`).toBe(matched);
      byState.set(state, matched);
    }
  }
});

it("makes few states of many patterns, however many paths come", () => {
  const globs = ["**/.env", "**/.env.*", "**/*.{kdbx}", "/home/*/.ssh/**", "/etc/shadow"].map(compileGlob);
  const shared = table();
  const automaton = new PathAutomaton(globs, [], shared);
  for (let i = 0; i < 20_000; i++) automaton.follow(`/${some(6, name).join("/")}`.replaceAll("é", "e"));
  expect(shared.next.reduce((most, state) => Math.max(most, state), 0)).toBeLessThan(200);
});

it("gives no state where there is no room, and goes on", () => {
  const automaton = new PathAutomaton([compileGlob("/abcdefgh")], [], table(4));
  expect(automaton.follow("/x")).not.toBe(0);
  expect(automaton.follow("/abcdefgh")).toBe(0);
  expect(automaton.follow("/y")).toBe(automaton.follow("/x"));
});
