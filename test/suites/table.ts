import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../support/root.js";
import { expected } from "./expected.js";
import { MODES, type Mode } from "./modes.js";
import type { Part } from "./part.js";
import type { Results } from "./results.js";
import { prepare, run } from "./run.js";
import { SUITES, type Suite } from "./suites.js";

const USAGE = `npm run suites [-- options]: the test suites of other people, bare twice and under HERMES, compared test by test.

  --only LIST     suites, or single parts: ${SUITES.map(({ name }) => name).join(", ")}, cpython/test_os, kernel/openat2/resolve_test
  --mode LIST     ${MODES.map(({ name }) => name).join(", ")} (default: all)
  --json          one JSON object per part and mode, and one at the end
  --write         write the table into docs/explanation/transparency.md (after a run of everything)
  --list          what would run

A test whose two bare runs differ is flaky, and is not compared. A test that differs is tried once more under HERMES: only
one that differs again counts. The exit status is 1 when a difference is not in test/suites/expected.ts.
As root the packages of a suite are installed. It takes about an hour for everything.

Examples: npm run suites -- --only cpython/test_subprocess,cpython/test_pty --mode acts
          npm run suites -- --only kernel --json
`;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    mode: { type: "string" },
    json: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

interface Difference {
  readonly test: string;
  readonly bare: string;
  readonly mediated: string;
  /** Undefined: nobody has explained it. */
  readonly reason: string | undefined;
}

interface Row {
  readonly suite: string;
  readonly part: string;
  readonly mode: string;
  readonly tests: number;
  readonly flaky: number;
  readonly seconds: number;
  readonly differences: readonly Difference[];
}

const listed = (words: string | undefined) => words?.split(",").filter((word) => word !== "");

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const modes = MODES.filter(({ name }) => listed(values.mode)?.includes(name) ?? true);
  const chosen = SUITES.flatMap((suite) => {
    const parts = suite.parts.filter((part) => isChosen(suite, part));
    return parts.length > 0 ? [{ suite, parts }] : [];
  });
  if (chosen.length === 0 || modes.length === 0)
    throw new Error("no suite or no mode of that name: see --list");
  if (values.list) {
    for (const { suite, parts } of chosen)
      for (const { name } of parts) process.stdout.write(`${suite.name}/${name}\n`);
    return 0;
  }
  const rows: Row[] = [];
  for (const { suite, parts } of chosen) {
    prepare(suite);
    for (const part of parts)
      for await (const row of compared(suite, part, modes)) {
        rows.push(row);
        process.stdout.write(values.json ? `${JSON.stringify(row)}\n` : shown(row));
      }
  }
  const table = tableOf(rows);
  const unexplained = rows.flatMap(({ differences }) => differences).filter(({ reason }) => !reason).length;
  process.stdout.write(
    values.json ? `${JSON.stringify({ rows: rows.length, unexplained })}\n` : `\n${table}`,
  );
  if (values.write) write(table);
  return unexplained > 0 ? 1 : 0;
}

function isChosen(suite: Suite, part: Part): boolean {
  const name = `${suite.name}/${part.name}`;
  return listed(values.only)?.some((word) => name === word || name.startsWith(`${word}/`)) ?? true;
}

async function* compared(suite: Suite, part: Part, modes: readonly Mode[]): AsyncIterable<Row> {
  const bare = await run(suite, part);
  const again = await run(suite, part);
  const flaky = new Set(
    [...bare.keys(), ...again.keys()].filter((test) => bare.get(test) !== again.get(test)),
  );
  for (const mode of modes) {
    const started = Date.now();
    const first = await run(suite, part, mode);
    let differing = differingTests(bare, first, flaky);
    let mediated = first;
    if (differing.length > 0) {
      mediated = await run(suite, part, mode);
      const second = new Set(differingTests(bare, mediated, flaky));
      differing = differing.filter((test) => second.has(test));
    }
    const differences = differing.map((test) => {
      const [one, other] = [bare.get(test) ?? "absent", mediated.get(test) ?? "absent"];
      const reason = expected(suite.name, mode.name, `${part.name}: ${test}`, one, other)?.reason;
      return { test, bare: one, mediated: other, reason };
    });
    const seconds = Math.round((Date.now() - started) / 1000);
    yield {
      ...{ suite: suite.name, part: part.name, mode: mode.name },
      ...{ tests: bare.size - 1, flaky: flaky.size, seconds, differences },
    };
  }
}

function differingTests(bare: Results, mediated: Results, flaky: ReadonlySet<string>): string[] {
  const all = new Set([...bare.keys(), ...mediated.keys()]);
  return [...all].filter((test) => !flaky.has(test) && bare.get(test) !== mediated.get(test));
}

function shown({ suite, part, mode, tests, flaky, seconds, differences }: Row): string {
  const unexplained = differences.filter(({ reason }) => !reason);
  const head = `${suite}/${part} ${mode}: ${tests} tests, ${flaky} flaky, ${differences.length} differ, ${unexplained.length} unexplained (${seconds} s)\n`;
  const shownFirst = unexplained
    .slice(0, 30)
    .map(({ test, bare, mediated }) => `  ${test}: ${bare}, under HERMES ${mediated}\n`);
  return head + shownFirst.join("");
}

/** One line per suite, one column per mode: how many tests differ, and how many of those without an explanation. */
function tableOf(rows: readonly Row[]): string {
  const modes = [...new Set(rows.map(({ mode }) => mode))];
  const suites = [...new Set(rows.map(({ suite }) => suite))];
  const lines = suites.map((suite) => {
    const own = rows.filter((row) => row.suite === suite);
    const tests = own.filter(({ mode }) => mode === modes[0]).reduce((sum, row) => sum + row.tests, 0);
    const cells = modes.map((mode) => {
      const all = own.filter((row) => row.mode === mode).flatMap(({ differences }) => differences);
      const open = all.filter(({ reason }) => !reason).length;
      return open > 0 ? `${all.length} (${open} unexplained)` : `${all.length}`;
    });
    return `| ${suite} | ${tests} | ${cells.join(" | ")} |`;
  });
  return [
    `| Suite | tests | ${modes.join(" | ")} |`,
    `|---|---|${"---|".repeat(modes.length)}`,
    ...lines,
    "",
  ].join("\n");
}

const START = "<!-- suites: written by npm run suites -- --write -->\n";
const END = "<!-- /suites -->";

function write(table: string): void {
  const file = join(root, "docs/explanation/transparency.md");
  const text = readFileSync(file, "utf8");
  const [start, end] = [text.indexOf(START), text.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`${file} has no place for the table`);
  writeFileSync(file, text.slice(0, start + START.length) + table + text.slice(end));
}

process.exitCode = 1; // until it is known
main().then(
  (status) => {
    process.exitCode = status;
  },
  (error: unknown) => {
    process.stderr.write(`suites: ${(error as Error).message}\n`);
    process.exitCode = 1;
  },
);
