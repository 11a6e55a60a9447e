import { figure, mark, printColumns } from "./print.mjs";
import { ratioOf } from "./stats.mjs";
import { SYSTEMS } from "./systems.mjs";

/**
 * One row per table: the time of HERMES, of the fastest peer that inspects each call, of the fastest peer that works only
 * at the start, the ratio to bare, and the goals.
 */
export function summaryRows({ scenarios }) {
  return Object.entries(scenarios).flatMap(([scenario, { tables }]) =>
    tables.flatMap((table) => rowOf(scenario, table) ?? []),
  );
}

function rowOf(scenario, { title, unit, rows, goals = [], checks = [], about }) {
  const told = [...goals, ...checks.filter(({ holds }) => holds !== undefined)];
  const met = told.filter(({ holds }) => holds).length;
  const common = {
    scenario,
    met,
    goals: told.length,
    missed: told.filter(({ holds }) => !holds).map(goalText),
  };
  if (!rows) {
    const [{ name: what, value: ours, unit: of }] = checks;
    return { ...common, name: title, what, ours, unit: of };
  }
  if (!about || !rows[about.ours]) return told.length > 0 ? { ...common, name: title } : undefined;
  const ours = rows[about.ours];
  const bare = rows[about.bare];
  return {
    ...common,
    name: about.name,
    unit,
    ours: ours.median,
    beside: about.bare,
    ratio: bare && ratioBetween(ours, bare),
    each: fastest(rows, about.peers, "at each call"),
    once: fastest(rows, about.peers, "at the start"),
  };
}

/** Of several figures the first is shown. */
export const labelOf = ({ name, what }) => (what === undefined ? name : `${name}: ${what}`);

/** Compared by rounds. */
function ratioBetween(ours, against) {
  return ratioOf(ours.samples, against.samples).median;
}

function fastest(rows, peers, works) {
  const names = peers.filter((name) => rows[name] && worksOf(name) === works);
  const [name] = names.toSorted((a, b) => rows[a].median - rows[b].median);
  return name && { name, median: rows[name].median };
}

/** Peers outside systems.mjs (ltrace, gdb) inspect each call. */
const worksOf = (name) => SYSTEMS.find((one) => one.name === name)?.works ?? "at each call";

function goalText({ subject, against, atMost, ratio, name, value, unit, goal }) {
  if (subject === undefined) return `${name}: ${figure(value)} ${unit}, goal ${goal}`;
  return `${subject}: ${ratio.median.toFixed(2)} × ${against}, goal ≤ ${atMost.toFixed(2)}`;
}

export function printSummary(results) {
  const rows = summaryRows(results);
  const time = (value, unit) => `${figure(value)} ${unit}`;
  const peer = (one, unit) => (one ? `${one.name} ${time(one.median, unit)}` : "–");
  printColumns("summary", [
    ["", "HERMES", "× bare", "fastest peer at each call", "… done at the start", "goals"],
    ...rows.map((row) => [
      labelOf(row),
      row.ours === undefined ? "–" : time(row.ours, row.unit),
      row.ratio === undefined
        ? "–"
        : `${row.ratio.toFixed(2)}${row.beside === "bare" ? "" : ` × ${row.beside}`}`,
      peer(row.each, row.unit),
      peer(row.once, row.unit),
      row.goals === 0 ? "" : `${mark(row.met === row.goals)} ${row.met} of ${row.goals}`,
    ]),
  ]);
  if (results.quick)
    process.stdout.write(
      "\n  quick: small enough that starting is much of it; the goals are of a full sitting\n",
    );
  list(
    "goals that are not met",
    rows.flatMap(({ name, missed }) => missed.map((text) => `${name}: ${text}`)),
  );
  list(
    "not measured",
    results.notMeasured.map(({ scenario, what, why }) => `${scenario}: ${what}: ${why}`),
  );
}

function list(title, lines) {
  if (lines.length === 0) return;
  process.stdout.write(`\n${title}\n${lines.map((line) => `  ${line}\n`).join("")}`);
}
