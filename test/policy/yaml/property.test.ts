import { describe, expect, test } from "vitest";
import { compileGlob, expandGlobBraces, matchGlob, split } from "../../../src/policy/match/glob.js";
import { matchPaths } from "../../../src/policy/match/path.js";
import { PathIndex } from "../../../src/policy/match/path-index.js";
import { Random } from "../../support/random.js";
import { load } from "./policies.js";
import { randomEvent, randomPolicy } from "./random.js";

describe("short cuts change no decision", () => {
  // explain() asks every rule in order; decide() looks rules up.
  test.each(Array.from({ length: 40 }, (_, seed) => seed + 1))("random policy %d", async (seed) => {
    const random = new Random(seed);
    const policy = await load(randomPolicy(random, 1 + random.below(40)));
    for (let i = 0; i < 300; i++) {
      const event = randomEvent(random);
      expect(policy.decide(event), `${event.name} ${event.path} ${event.fd?.target}`).toEqual(
        policy.explain(event).verdict,
      );
    }
  });

  test("a path is found under every pattern that matches it, and no other", () => {
    const random = new Random(99);
    const parts = ["a", "b", "*", "**", "?", "a*", "*.c", "x.c", "[ab]"];
    const patterns = Array.from({ length: 400 }, () => {
      const text = Array.from({ length: 1 + random.below(4) }, () => random.pick(parts)).join("/");
      return compileGlob(random.next() < 0.3 ? `**/${text}` : `/${text}`);
    });
    const index = new PathIndex<number>();
    for (const [i, glob] of patterns.entries()) index.add(glob, i);
    for (let i = 0; i < 2000; i++) {
      const path = `/${Array.from({ length: random.below(5) }, () => random.pick(["a", "b", "ab", "x.c", "y.c", "c"])).join("/")}`;
      const naive = patterns.flatMap((glob, i) => (matchGlob(glob, split(path)) ? [i] : []));
      expect(
        [...new Set(index.find(path))].sort((x, y) => x - y),
        path,
      ).toEqual(naive);
    }
  });

  test("globs agree with the regular expressions that they stand for", () => {
    const random = new Random(7);
    const parts = ["a", "b", "ab", "*", "**", "?", "a*", "*b", "[ab]", "[!a]", "a?b"];
    const expression = (pattern: string) =>
      new RegExp(
        `^${pattern
          .split("/")
          .slice(1)
          .map((part) =>
            part === "**"
              ? "(?:/[^/]+)*"
              : `/${part.replace(/\[!/g, "[^").replace(/\*/g, "[^/]*").replace(/\?/g, "[^/]")}`,
          )
          .join("")}$`,
      );
    for (let i = 0; i < 5000; i++) {
      const pattern = `/${Array.from({ length: 1 + random.below(4) }, () => random.pick(parts)).join("/")}`;
      const path = `/${Array.from({ length: 1 + random.below(4) }, () => random.pick(["a", "b", "ab", "axb", "c"])).join("/")}`;
      expect(matchGlob(compileGlob(pattern), split(path)), `${pattern} ${path}`).toBe(
        expression(pattern).test(path),
      );
    }
  });

  test("braces mean the same as writing the alternatives out", () => {
    const list = { included: expandGlobBraces("/{a,b}/{c,d}").map(compileGlob), excepted: [] };
    for (const path of ["/a/c", "/a/d", "/b/c", "/b/d"]) expect(matchPaths(list, path)).toBe(true);
    expect(matchPaths(list, "/a/b")).toBe(false);
  });
});
