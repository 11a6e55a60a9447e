import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chart } from "../../bench/chart.mjs";
import { writeDocuments } from "../../bench/documents.mjs";
import { longTable, shortTable } from "../../bench/markdown.mjs";
import { summaryRows } from "../../bench/summary.mjs";
import { root } from "../support/root.js";
import { RESULTS } from "./results.js";

const PAGE = "docs/explanation/performance.md";

describe("the summary", () => {
  const rows = summaryRows(RESULTS);
  it("compares by rounds, and tells peers at each call from those that are done at the start", () =>
    expect(rows[0]).toMatchObject({
      ...{ name: "gcc", ours: 1210, unit: "ms", met: 2, goals: 3 },
      ...{ each: { name: "strace", median: 1650 }, once: { name: "srt", median: 1111 } },
      missed: ["HERMES enforce: 1.09 × srt, goal ≤ 1.00"],
    }));
  it("has a ratio to bare", () => expect(rows[0]!.ratio).toBeCloseTo(1.1));
  it("has goals on fixed bounds too", () =>
    expect(rows.find(({ scenario }) => scenario === "guard")).toMatchObject({
      missed: ["the worst: 25 ms, goal < 20"],
    }));
});

describe("the short table", () => {
  const text = shortTable(RESULTS);
  it("says when, where and how", () =>
    expect(text).toContain("2026-11-15 by `npm run bench` (30 minutes) on 2 × AMD &lt;EPYC>, Linux 6.18.0"));
  it("has what was measured, and the goals, met or not", () => {
    expect(text).toContain("| gcc | **1.10** | 1.50 | 1.01 | ≤ 1.15 ✓ | strace ✓, srt ✗ |");
    expect(text).toContain("| 10,000 rules, beside 10 rules | **1.02** | ≤ 1.5 ✓ |");
  });
  it("has a dash where a peer could not do it", () =>
    expect(text).toContain("| find | **20.00** | – | – | ≤ 1.6 ✗ | – |"));
  it("says what peers do less of", () =>
    expect(text).toMatch(/- strace, at work at each call: .*; no decisions/));
});

describe("the table in docs/explanation/performance.md", () => {
  const text = longTable(RESULTS);
  it("has the supervisor's own CPU and memory", () =>
    expect(text).toContain("| gcc | HERMES enforce | 900 | 1,000 | 90 | 101 |"));
  it("names every goal that is not met", () => {
    expect(text).toContain("- find: HERMES enforce: 20.00 × bare, goal ≤ 1.60");
    expect(text).toContain("- the guard: the worst: 25 ms, goal < 20");
  });
  it("names what was not measured, harmlessly", () =>
    expect(text).toContain("- workloads: find under strace: exit 1:   &lt;b>"));
});

describe("the chart", () => {
  const svg = chart(RESULTS);
  it("has a bar for every system but bare, as long as its ratio", () => {
    const bars = [...svg.matchAll(/<rect class="(\w+)" x="190" y="\d+" width="([\d.]+)"/g)];
    expect(bars.map(([, kind]) => kind)).toEqual(["ours", "bar", "bar", "ours"]);
    const [ours, strace] = bars.map(([, , width]) => Number(width));
    expect(strace! / ours!).toBeCloseTo(1.5 / 1.1, 2);
  });
  it("cuts bars that would hide the others, and says so", () => expect(svg).toContain("→ 20.00×"));
  it("is well-formed, whatever the machine is called", () => {
    expect(svg).toContain("AMD &lt;EPYC&gt;");
    const open = svg.match(/<[a-z]+[^>]*[^/]>/g)!.length;
    expect(svg.match(/<\/[a-z]+>/g)).toHaveLength(open);
  });
  it("is readable in the dark", () => expect(svg).toContain("prefers-color-scheme:dark"));
  it("is drawn of nothing too", () => expect(chart({ ...RESULTS, scenarios: {} })).toContain("</svg>"));
});

describe("the documents", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
    mkdirSync(join(folder, "docs/images"), { recursive: true });
    mkdirSync(join(folder, dirname(PAGE)));
    writeFileSync(join(folder, PAGE), readFileSync(join(root, PAGE)));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("get the table between their markers, and keep the rest", () => {
    const read = () => readFileSync(join(folder, PAGE), "utf8");
    const before = read();
    writeDocuments(RESULTS, folder);
    const after = read();
    expect(after).toContain("| gcc | **1.10**");
    expect(after.split("<!-- bench")[0]).toBe(before.split("<!-- bench")[0]);
    expect(after.split("end -->")[1]).toBe(before.split("end -->")[1]);
    writeDocuments(RESULTS, folder);
    expect(read()).toBe(after);
    const picture = /!\[.*\]\((.*)\)/.exec(after)![1]!;
    expect(readFileSync(join(folder, dirname(PAGE), picture), "utf8")).toContain("<svg");
  });
  it("take nothing that is no result", () =>
    expect(() => writeDocuments({ ...RESULTS, format: 0 }, folder)).toThrow("no results"));
  it("say so when there is no place for it", () => {
    writeFileSync(join(folder, PAGE), "# other\n");
    expect(() => writeDocuments(RESULTS, folder)).toThrow(`${PAGE} has no place`);
  });
});
