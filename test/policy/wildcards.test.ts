import { describe, expect, it } from "vitest";
import { globTest } from "../../src/agents/tools/files/glob.js";
import {
  ANY_DEPTH,
  matchParts,
  matchTokens,
  ONE,
  type Part,
  STAR,
  starMatches,
  type Token,
  wildcards,
} from "../../src/nouns/glob.js";
import { Random } from "../support/random.js";

const LETTERS = ["a", "b", "c", "😀", ".", "*", "?", "["];
const TOKENS: readonly Token[] = [
  "a",
  "b",
  "ab",
  "😀",
  STAR,
  STAR,
  ONE,
  { negated: false, ranges: [[0x61, 0x62]] },
  { negated: true, ranges: [[0x61, 0x61]] },
];

/** What the tokens mean, without any thought of time. */
function fits(tokens: readonly Token[], text: string): boolean {
  const [token, ...rest] = tokens;
  if (token === undefined) return text === "";
  if (token === STAR) return [...Array(text.length + 1).keys()].some((at) => fits(rest, text.slice(at)));
  if (typeof token === "string") return text.startsWith(token) && fits(rest, text.slice(token.length));
  if (text === "") return false;
  if (token === ONE) return fits(rest, text.slice(text.codePointAt(0)! > 0xffff ? 2 : 1));
  const code = text.charCodeAt(0);
  const inRange = token.ranges.some(([from, to]) => from <= code && code <= to);
  return inRange !== token.negated && fits(rest, text.slice(1));
}

function fitsParts(parts: readonly Part[], names: readonly string[]): boolean {
  const [part, ...rest] = parts;
  if (part === undefined) return names.length === 0;
  if (part === ANY_DEPTH)
    return [...Array(names.length + 1).keys()].some((at) => fitsParts(rest, names.slice(at)));
  const [name, ...others] = names;
  if (name === undefined) return false;
  return (typeof part === "string" ? part === name : fits(part.tokens, name)) && fitsParts(rest, others);
}

describe("patterns", () => {
  it("match what a naive reading of them matches: texts", () => {
    const random = new Random(3);
    const count = { true: 0, false: 0 };
    for (let i = 0; i < 20_000; i++) {
      const tokens = random.some(TOKENS, 6);
      const text = random.some(LETTERS, 6).join("");
      const expected = fits(tokens, text);
      count[`${expected}`]++;
      if (matchTokens(tokens, text) !== expected)
        expect.fail(`${tokens.map(String)} and ${text}: ${expected}`);
    }
    expect(Math.min(count.true, count.false)).toBeGreaterThan(2000);
  });

  it("match what a naive reading of them matches: paths", () => {
    const random = new Random(4);
    const count = { true: 0, false: 0 };
    const part = (): Part => random.pick<Part>([ANY_DEPTH, "a", "b", { tokens: random.some(TOKENS, 3) }]);
    for (let i = 0; i < 20_000; i++) {
      const parts = Array.from({ length: random.below(5) }, part);
      const names = Array.from({ length: random.below(5) }, () => random.some(["a", "b"], 2).join(""));
      const expected = fitsParts(parts, names);
      count[`${expected}`]++;
      if (matchParts(parts, names) !== expected)
        expect.fail(`${JSON.stringify(parts.map(String))} and ${names.join("/")}: ${expected}`);
    }
    expect(Math.min(count.true, count.false)).toBeGreaterThan(2000);
  });

  it("mean the same in every syntax that has the same signs", () => {
    const random = new Random(5);
    for (let i = 0; i < 20_000; i++) {
      const pattern = random.some(["a", "b", "*", "?", "."], 6).join("");
      const text = random.some(["a", "b", "."], 6).join("");
      const means = wildcards(pattern)(text);
      if (globTest(pattern)(text) !== means) expect.fail(`${pattern} and ${text}: ${means}`);
      if (!pattern.includes("?") && starMatches(pattern, text) !== means)
        expect.fail(`${pattern} and ${text}: ${means}`);
    }
    expect([starMatches("a?", "ab"), starMatches("a?", "a?")]).toEqual([false, true]);
    expect([wildcards("?")("😀"), globTest("?.txt")("😀.txt")]).toEqual([true, true]);
  });

  it("cannot be made slow by a hostile text", () => {
    const text = "a".repeat(50_000);
    expect(starMatches(`${"*a".repeat(200)}*b`, text)).toBe(false);
    expect(wildcards(`${"*a?".repeat(200)}b`)(text)).toBe(false);
    expect(globTest(`${"**/*a".repeat(20)}/b`)(`${text}/`.repeat(20))).toBe(false);
  });
});
