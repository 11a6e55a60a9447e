import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, UsageError } from "../../bench/options.mjs";
import { Report } from "../../bench/report.mjs";
import { optionsFor, SCENARIOS } from "../../bench/scenarios.mjs";
import { DOCUMENTS } from "../support/documents.js";
import { root } from "../support/root.js";

const bench = (...words: string[]) =>
  spawnSync(process.execPath, [join(root, "bench/run.mjs"), ...words], { encoding: "utf8" });

describe("npm run bench", () => {
  it("tells what there is", () => {
    const { status, stdout } = bench("--help");
    expect(status).toBe(0);
    for (const { name } of SCENARIOS) expect(stdout).toContain(`  ${name} `);
  });
  it("does not guess: a wrong word is named, with those that are right", () => {
    const { status, stderr } = bench("--bogus");
    expect([status, stderr]).toEqual([2, expect.stringContaining("Unknown option '--bogus'")]);
  });
  for (const [words, told] of [
    [["nosuch"], 'scenario: "nosuch" is none of start, '],
    [["--rounds", "0"], '--rounds: "0" is no number above 0'],
    [["--only", "gcc,nosuch"], '--only: "nosuch" is none of'],
    [["--systems", "Strace"], '--systems: "Strace" is none of bare, '],
    [["memory", "--door", "back"], '--door: "back" is none of notify, trace'],
    [["start", "--only", "gcc"], "--only: gcc is no part of this"],
    [["table", "a", "b"], "table takes one file"],
  ] as const)
    it(`refuses ${words.join(" ")}`, () => {
      expect(() => parse([...words], SCENARIOS)).toThrow(UsageError);
      expect(() => parse([...words], SCENARIOS)).toThrow(told);
    });

  it("says what is wrong with a file that it is to make a table of", () => {
    const { status, stderr } = bench("table", "bench/run.mjs");
    expect([status, stderr]).toEqual([2, expect.stringContaining("table: bench/run.mjs: ")]);
  });
  it("runs all that belong to a sitting, and only those", () => {
    const { names, sitting } = parse([], SCENARIOS);
    expect(sitting).toBe(true);
    expect(names).toEqual(expect.arrayContaining(["start", "rules", "scale", "workloads", "memory"]));
    expect(names).not.toContain("peers");
  });
  it("keeps the results of a whole sitting, and of a part only where it is told to", () => {
    expect(parse([], SCENARIOS).whole).toBe(true);
    expect(parse(["--only", "gcc"], SCENARIOS).whole).toBe(false);
    expect(parse(["start"], SCENARIOS).whole).toBe(false);
  });
  it("takes a workload for the scenario that it is of", () => {
    expect(parse(["--only", "rules,gcc"], SCENARIOS)).toMatchObject({
      names: ["rules", "workloads"],
      options: { works: ["gcc"] },
    });
  });
  it("always measures bare", () =>
    expect(parse(["start", "--systems", "strace"], SCENARIOS).options!.systems).toEqual(["bare", "strace"]));
  it("takes fewer rounds in a sitting, fewer still when it is to be quick, and as many as are asked for", () => {
    const stops = SCENARIOS.find(({ name }) => name === "stops")!;
    const rounds = (asked: object, sitting: boolean) => optionsFor(stops, asked, sitting).rounds;
    expect(rounds({ quick: true }, true)).toBeLessThan(rounds({}, true));
    expect(rounds({}, true)).toBeLessThan(rounds({}, false));
    expect(rounds({ rounds: 42, quick: true }, true)).toBe(42);
  });
});

describe("every bench command in the documents", () => {
  const shown = ["CONTRIBUTING.md", ...DOCUMENTS].flatMap(
    (name) => readFileSync(join(root, name), "utf8").match(/npm run bench( -- [^`#\n]*)?/g) ?? [],
  );

  it("is one that there is", () => {
    expect(shown.length).toBeGreaterThan(5);
    for (const command of shown) {
      const words = command.slice("npm run bench -- ".length).match(/"[^"]*"|[^\s)]+/g) ?? [];
      expect(
        () =>
          parse(
            words.map((word) => word.replaceAll('"', "")),
            SCENARIOS,
          ),
        command,
      ).not.toThrow();
    }
  });
});

describe("a report", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("is on disk after every scenario, with what failed and what could not be measured", async () => {
    const file = join(folder, "new/results.json");
    const report = new Report({ date: "today" }, file);
    await report.take("first", async () => [[{ title: "a" }], { title: "b" }, undefined]);
    const read = () => JSON.parse(readFileSync(file, "utf8"));
    expect(read().scenarios.first.tables).toEqual([{ title: "a" }, { title: "b" }]);
    expect(report.failed).toBe(false);
    await report.take("second", async () => {
      report.cannot("runsc", "not installed");
      report.cannot("runsc", "not installed");
      throw new Error("no luck");
    });
    expect(report.failed).toBe(true);
    expect(read().notMeasured).toEqual([
      { scenario: "second", what: "runsc", why: "not installed" },
      { scenario: "second", what: "second", why: "no luck" },
    ]);
  });
});
