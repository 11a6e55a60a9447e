import { figure, mark, printColumns } from "./print.mjs";
import { workloads } from "./workloads.mjs";
import { WORKS } from "./works.mjs";

/** The columns, in this order: what HERMES adds step by step, then the peers that are done at the start. */
const COLUMNS = [
  { name: "bare" },
  { name: "HERMES free", head: "no policy" },
  { name: "HERMES enforce", head: "agent" },
  { name: "HERMES strict", head: "strict" },
  { name: "HERMES strict enforce", head: "strict + agent" },
  { name: "bubblewrap" },
  { name: "srt" },
];
/** Without servers and browsers. */
const SHOWN = WORKS.filter((work) => !work.server && work.name !== "chromium").map(({ name }) => name);

/** Workloads by systems, as multiples of bare: one table for each user. */
export async function overview({ works = SHOWN, systems, user = "both", ...options }) {
  const columns = systems ? systems.map(columnOf) : COLUMNS;
  const names = columns.map(({ name }) => name);
  const tables = await workloads({ ...options, works, user, systems: names });
  for (const name of new Set(tables.map((table) => table.user)))
    printOverview(
      name,
      tables.filter((table) => table.user === name),
      columns,
    );
  if (options.quick)
    process.stdout.write("\n  quick: starting is much of it; the goals are of the full size\n");
  return tables;
}

const columnOf = (system) => COLUMNS.find(({ name }) => name === system) ?? { name: system };

function printOverview(user, tables, columns) {
  const rows = tables.map(({ work, rows, goals }) => [
    work.split(",")[0],
    ...columns.map(({ name }) => cellOf(name, rows[name], goals)),
    "",
  ]);
  const heads = columns.map(({ name, head = name }) => (name === "bare" ? "bare, ms" : head));
  const title = `as the user ${user}: × bare [middle half], and whether the goals are met`;
  printColumns(title, [["", ...heads, ""], ...rows]);
  const goals = tables.flatMap((table) => table.goals.map((goal) => ({ ...goal, work: table.work })));
  printGoals(goals.filter((goal) => columns.some(({ name }) => name === goal.against)));
}

function cellOf(name, row, goals) {
  if (!row) return "–";
  if (name === "bare") return figure(row.median);
  const { median, low, high } = row.ratio;
  const marks = goals.filter(({ subject, against }) => subject === name && !isPeer(against));
  const met = marks.length === 0 ? " " : mark(marks.every(({ holds }) => holds));
  return `${median.toFixed(2)} [${low.toFixed(2)}–${high.toFixed(2)}] ${met}`;
}

const isPeer = (name) => name !== "bare" && !name.startsWith("HERMES");

function printGoals(goals) {
  const missed = goals.filter(({ holds }) => !holds);
  process.stdout.write(`\n  ${goals.length - missed.length} of ${goals.length} goals are met; not met:\n`);
  for (const { work, subject, against, atMost, ratio } of missed)
    process.stdout.write(
      `    ${work}: ${subject}: ${ratio.median.toFixed(2)} × ${against}, goal ≤ ${atMost.toFixed(2)}\n`,
    );
}
