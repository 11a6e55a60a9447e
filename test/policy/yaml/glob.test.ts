import { describe, expect, test } from "vitest";
import {
  compileGlob,
  compileWord,
  expandGlobBraces,
  matchGlob,
  reachesBelow,
  split,
} from "../../../src/policy/match/glob.js";
import { cpuMs } from "../../support/cpu.js";

const matches = (pattern: string, path: string) =>
  expandGlobBraces(pattern).some((text) => matchGlob(compileGlob(text), split(path)));

describe("a path pattern", () => {
  test.each([
    ["/etc/passwd", "/etc/passwd"],
    ["/etc/*", "/etc/passwd"],
    ["/etc/*", "/etc/.hidden"],
    ["/etc/**", "/etc"],
    ["/etc/**", "/etc/a/b/c"],
    ["/**", "/"],
    ["**", "/a/b"],
    ["**/.env", "/.env"],
    ["**/.env", "/a/b/.env"],
    ["**/x/**", "/a/x"],
    ["**/x/**", "/x/y/z"],
    ["/a/**/z", "/a/z"],
    ["/a/**/z", "/a/b/c/z"],
    ["/a/**/b/**/c", "/a/b/x/b/c"],
    ["/a/{b,c/d}/e", "/a/c/d/e"],
    ["/a/{b,{c,d}}", "/a/d"],
    ["/a/x{,.bak}", "/a/x"],
    ["/a/[a-c]x", "/a/bx"],
    ["/a/[!a-c]x", "/a/dx"],
    ["/a/[]]", "/a/]"],
    ["/a/?", "/a/é"],
    ["/a/?", "/a/😀"],
    ["/a/\\*", "/a/*"],
    ["/a/\\{b\\}", "/a/{b}"],
    ["/a/*.tar.*z", "/a/x.tar.tar.gz"],
    ["/a/a*b*c", "/a/aXbYbZc"],
  ])("%s matches %s", (pattern, path) => expect(matches(pattern, path)).toBe(true));

  test.each([
    ["/etc/passwd", "/etc/passwd2"],
    ["/etc/passwd", "/etc"],
    ["/etc/*", "/etc/a/b"],
    ["/etc/*", "/etc"],
    ["/etc/**", "/etcetera"],
    ["**/.env", "/a/.env/b"],
    ["**/.env", "/a/x.env"],
    ["/a/?", "/a/bc"],
    ["/a/?", "/a"],
    ["/a/[a-c]x", "/a/dx"],
    ["/a/\\*", "/a/b"],
    ["/A", "/a"],
    ["/a/a*b*c", "/a/aXc"],
  ])("%s does not match %s", (pattern, path) => expect(matches(pattern, path)).toBe(false));

  test.each([
    ["foo", /would match nothing.*did you mean "\*\*\/foo"/],
    ["", /would match nothing/],
    ["/a/", /ends in a slash: write "\/a\/\*\*"/],
    ["/a//b", /two slashes/],
    ["/a/../b", /contains "\.\."/],
    ["/a/x**", /\*\* stands alone/],
    ["/a/[b", /\[ is never closed/],
    ["/a/[z-a]", /backwards/],
    ["/a/\0", /NUL/],
  ])("%j is refused", (pattern, message) => expect(() => compileGlob(pattern)).toThrow(message));

  test("an open brace that is never closed is refused", () =>
    expect(() => expandGlobBraces("/a/{b")).toThrow(/never closed/));

  test("braces that multiply are refused before they are written out", () =>
    expect(() => expandGlobBraces("{a,b,c,d,e,f,g,h,i,j}".repeat(6))).toThrow(/more than 1000 alternatives/));

  test("a hostile path takes no more time than a long one", () => {
    const glob = compileGlob(`/**/${"a*".repeat(50)}b`);
    const started = cpuMs();
    for (let i = 0; i < 20; i++) matchGlob(glob, split(`/${"a".repeat(2000)}/${"a/".repeat(1000)}c`));
    expect(cpuMs() - started).toBeLessThan(20_000);
  });

  test("a word pattern reads as a component does, slashes included", () => {
    expect(compileWord("*.example.{org,com}")("a.example.com")).toBe(true);
    expect(compileWord("https://*")("https://a/b")).toBe(true);
    expect(compileWord("a?")("a")).toBe(false);
  });
});

describe("a folder that is moved", () => {
  const reaches = (pattern: string, path: string) => reachesBelow(compileGlob(pattern), split(path));
  test.each([
    ["/home/me/.ssh/**", "/home/me"],
    ["/home/me/.ssh/**", "/home"],
    ["/home/*/.ssh/id", "/home/me"],
    ["/home/**/.aws/credentials", "/home/me/x"],
    ["**/.aws/credentials", "/home/me/.aws"],
  ])("takes %s along when it is %s", (pattern, path) => expect(reaches(pattern, path)).toBe(true));
  test.each([
    ["/home/me/.ssh/**", "/home/you"],
    ["/home/me/.ssh/id", "/home/me/.ssh/id"],
    ["**/.env", "/home/me"],
    ["**/.aws/credentials", "/home/me"],
  ])("does not take %s along when it is %s", (pattern, path) => expect(reaches(pattern, path)).toBe(false));
});
