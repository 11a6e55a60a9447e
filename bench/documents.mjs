import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { chart } from "./chart.mjs";
import { longTable, shortTable } from "./markdown.mjs";
import { UsageError } from "./options.mjs";
import { FORMAT } from "./report.mjs";
import { root } from "./tools.mjs";

const FROM = "<!-- bench: the table is written by `npm run bench -- table` -->";
const TO = "<!-- bench: end -->";
const PICTURE = "docs/images/performance.svg";
const PAGE = "docs/explanation/performance.md";

/** Prints the table of a benchmark run, inserts it into the page on performance, and draws the chart that the README shows too. */
export function writeDocuments(results, folder = root) {
  if (results.format !== FORMAT) throw new UsageError("table: this file holds no results of npm run bench");
  const page = join(folder, PAGE);
  const text = `![Real programs, times bare](${relative(dirname(PAGE), PICTURE)})\n\n${longTable(results)}`;
  writeFileSync(page, between(readFileSync(page, "utf8"), text, PAGE));
  writeFileSync(join(folder, PICTURE), chart(results));
  process.stdout.write(`${shortTable(results)}\n`);
  process.stderr.write(`bench: written to ${PAGE} and ${PICTURE}\n`);
  return 0;
}

/** Replaces the text between the markers. */
export function between(text, table, name) {
  const from = text.indexOf(FROM);
  const to = text.indexOf(TO);
  if (from < 0 || to < from) throw new UsageError(`table: ${name} has no place for it (${FROM} … ${TO})`);
  return `${text.slice(0, from + FROM.length)}\n\n${table}\n\n${text.slice(to)}`;
}
