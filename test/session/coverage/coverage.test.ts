import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CoverageReport } from "../../../src/session/coverage/report.js";
import { hermes } from "../../support/cli.js";
import { program } from "../../support/programs.js";
import { root } from "../../support/root.js";

let folder: string;
let binary: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-coverage-"));
  copyFileSync(join(root, "test/programs/covered.c"), join(folder, "covered.c"));
  binary = program("covered", "-g", "-O0");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function cover(name: string, options: string[], ...args: string[]): CoverageReport {
  const file = join(folder, name);
  const ran = hermes(["coverage", "-o", file, ...options, "--", binary, ...args]);
  expect(ran.status).toBe(0);
  return JSON.parse(readFileSync(file, "utf8"));
}

/** What gcov says of each line that has code: whether it was run. */
function gcov(...args: string[]): Map<number, boolean> {
  const at = { cwd: folder, stdio: "pipe" } as const;
  execFileSync("gcc", ["--coverage", "-O0", "-o", "counted", "covered.c"], at);
  execFileSync(join(folder, "counted"), args, at);
  const text = execFileSync("gcov", ["-t", "counted-covered.gcda"], { ...at, encoding: "utf8" });
  const lines = [...text.matchAll(/^\s*(#####|[\d]+\*?):\s*(\d+):/gm)];
  return new Map(lines.map(([, hits, line]) => [Number(line), hits !== "#####"]));
}

describe("hermes coverage", () => {
  it("finds the same functions and lines run as gcov does", () => {
    const expected = gcov();
    expect(expected.size).toBeGreaterThan(25);
    const [module] = cover("blocks.json", []).modules;
    const [lines] = Object.values(module!.sources!);
    const found = new Map([...expected.keys()].map((line) => [line, (lines![line] ?? 0) > 0]));
    expect(found).toEqual(expected);
    const called = module!.list.filter(({ hits }) => hits > 0).map(({ name }) => name);
    expect(called).toEqual(expect.arrayContaining(["main", "odd", "choose", "leave"]));
    expect(called).not.toContain("never");
  });

  it("counts calls of functions, the same with a stop for each as without any", () => {
    const counts = (name: string, options: string[]) =>
      Object.fromEntries(
        cover(name, ["--count", ...options]).modules[0]!.list.map((each) => [each.name, each.hits]),
      );
    const slow = counts("slow.json", []);
    expect(slow).toMatchObject({ odd: 10, choose: 5, main: 1, never: 0, leave: 1 });
    expect(counts("fast.json", ["--fast"])).toEqual(slow);
  });

  it("adds several runs up, and writes what lcov reads", () => {
    const other = cover("other.json", [], "an", "argument");
    const merged = hermes(
      ["coverage", "--merge", join(folder, "blocks.json"), "--merge", join(folder, "other.json")].concat([
        "-o",
        join(folder, "merged.info"),
      ]),
    );
    expect(merged.status).toBe(0);
    const text = readFileSync(join(folder, "merged.info"), "utf8");
    expect(text).toContain(`SF:${join(root, "test/programs/covered.c")}\n`);
    expect(text).toMatch(/^FNDA:2,main$/m);
    expect(text).toMatch(/^FNDA:0,never$/m);
    const hit = Number(/^LH:(\d+)$/m.exec(text)![1]);
    expect(hit).toBeGreaterThanOrEqual(other.modules[0]!.lines!.hit);
  });

  it("covers a stripped program by address, with a listing in the place of its source", () => {
    const stripped = program("covered", "-O2", "-s");
    const file = join(folder, "stripped.info");
    const ran = hermes(["coverage", "-o", file, "--", stripped]);
    expect([ran.status, ran.stdout.split("\n").length]).toEqual([0, 3]);
    const [, source] = /^SF:(.*)$/m.exec(readFileSync(file, "utf8"))!;
    expect(readFileSync(source!, "utf8")).toMatch(/^0x[0-9a-f]+ /);
    expect(readFileSync(file, "utf8")).toMatch(/^DA:\d+,1$/m);
  });

  it("refuses what is no report, and options that make no sense together", () => {
    expect(hermes(["coverage", "--merge", "/etc/passwd"]).stderr).toMatch(/^hermes: \/etc\/passwd: /);
    expect(hermes(["coverage", "--blocks", "--count", "--", "true"]).status).toBe(2);
    expect(hermes(["coverage"]).status).toBe(2);
  });
});
