import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chart } from "./chart.mjs";
import { longTable, shortTable } from "./markdown.mjs";
import { UsageError } from "./options.mjs";
import { FORMAT } from "./report.mjs";
import { root } from "./tools.mjs";

const FROM = "<!-- bench: the table is written by `npm run bench -- table` -->";
const TO = "<!-- bench: end -->";
const PICTURE = "docs/images/performance.svg";
const DOCUMENTS = {
  "README.md": shortTable,
  "docs/performance.md": (results) =>
    `![Real programs, times bare](${PICTURE.slice("docs/".length)})\n\n${longTable(results)}`,
};

/** Prints the table of a benchmark run and inserts it into the documents that show it. */
export function writeDocuments(results, folder = root) {
  if (results.format !== FORMAT) throw new UsageError("table: this file holds no results of npm run bench");
  for (const [name, tableOf] of Object.entries(DOCUMENTS)) {
    const file = join(folder, name);
    writeFileSync(file, between(readFileSync(file, "utf8"), tableOf(results), name));
  }
  writeFileSync(join(folder, PICTURE), chart(results));
  process.stdout.write(`${shortTable(results)}\n`);
  process.stderr.write(`bench: written to ${[...Object.keys(DOCUMENTS), PICTURE].join(", ")}\n`);
  return 0;
}

/** Replaces the text between the markers. */
export function between(text, table, name) {
  const from = text.indexOf(FROM);
  const to = text.indexOf(TO);
  if (from < 0 || to < from) throw new UsageError(`table: ${name} has no place for it (${FROM} … ${TO})`);
  return `${text.slice(0, from + FROM.length)}\n\n${table}\n\n${text.slice(to)}`;
}
