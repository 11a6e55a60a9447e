import { figure, mark } from "./print.mjs";
import { labelOf, summaryRows } from "./summary.mjs";
import { SYSTEMS } from "./systems.mjs";

const OURS = "HERMES enforce";

/** The short table: real programs as multiples of bare, and further goals. */
export function shortTable(results) {
  return [heading(results), workTable(results), otherGoals(results), honesty(results)]
    .filter(Boolean)
    .join("\n\n");
}

/** The long table: each table's row in the summary, with unmet goals and missing measurements. */
export function longTable(results) {
  return [
    shortTable(results),
    supervisorTable(results),
    summaryTable(results),
    missed(results),
    notMeasured(results),
  ]
    .filter(Boolean)
    .join("\n\n");
}

function heading({ date, command, machine, quick, pinned, seconds }) {
  const minutes = Math.max(1, Math.round(seconds / 60));
  const how = [pinned && "all on one CPU", quick && "quick: fewer and smaller, more noise"]
    .filter(Boolean)
    .join(", ");
  return (
    `Measured on ${date.slice(0, 10)} by \`${command}\` (${minutes} minutes${how ? `; ${how}` : ""}) on ` +
    `${machine.cpus} × ${plain(machine.cpu)}, Linux ${machine.kernel}, Node ${machine.node}${machine.commit ? `, commit ${machine.commit}` : ""}. ` +
    "Times bare, medians, in turn; trust the ratios."
  );
}

const worked = ({ scenarios }) => scenarios.workloads?.tables ?? [];

/** A dash for a system that cannot run the workload. */
function workTable(results) {
  const tables = worked(results);
  if (tables.length === 0) return "";
  const names = SYSTEMS.map(({ name }) => name).filter(
    (name) => name !== "bare" && tables.some(({ rows }) => rows[name]),
  );
  const rows = tables.map(({ work, rows, goals }) => [
    work,
    ...names.map((name) => cellOf(name, rows[name])),
    goalAgainst(goals, "bare"),
    goalAgainst(goals, "peers"),
  ]);
  return grid([["", ...names, "goal, × bare", "goals, beside peers"], ...rows]);
}

function cellOf(name, row) {
  if (!row) return "–";
  const text = row.ratio.median.toFixed(2);
  return name === OURS ? `**${text}**` : text;
}

function goalAgainst(goals, whom) {
  const mine = goals.filter(
    ({ subject, against }) => subject === OURS && (against === "bare") === (whom === "bare"),
  );
  if (mine.length === 0) return "–";
  if (whom === "bare") return `≤ ${mine[0].atMost} ${mark(mine[0].holds)}`;
  return mine.map(({ against, holds }) => `${against} ${mark(holds)}`).join(", ");
}

/** Goals outside the workloads, from the summary. */
function otherGoals({ scenarios }) {
  const tables = ["start", "rules", "scale"].flatMap((name) => scenarios[name]?.tables ?? []);
  const rows = tables.flatMap(({ about, goals }) =>
    goals
      .filter(({ subject }) => subject === about.ours)
      .map(({ against, atMost, ratio, holds }) => [
        ...[
          `${about.name}, beside ${against}`,
          `**${ratio.median.toFixed(2)}**`,
          `≤ ${atMost} ${mark(holds)}`,
        ],
      ]),
  );
  return rows.length === 0 ? "" : grid([["", "ratio", "goal"], ...rows]);
}

/** What each measured peer does not do. */
function honesty(results) {
  const seen = new Set(worked(results).flatMap(({ rows }) => Object.keys(rows)));
  const lines = SYSTEMS.filter(({ name, lacks }) => lacks && seen.has(name)).map(
    ({ name, works, does, lacks }) => `- ${name}, at work ${works}: ${does}; no ${lacks}.`,
  );
  if (lines.length === 0) return "";
  return `A dash: it cannot be done there. No peer does what HERMES does under \`agent.yaml\`:\n\n${lines.join("\n")}`;
}

function supervisorTable(results) {
  const rows = worked(results).flatMap(({ work, costs }) =>
    Object.entries(costs ?? {})
      .filter(([name]) => name.startsWith("HERMES"))
      .map(([name, cost]) => [
        ...[
          work,
          name,
          figure(costs.bare.cpuMs),
          figure(cost.cpuMs),
          figure(cost.ownCpuMs),
          figure(cost.ownPeakMb),
        ],
      ]),
  );
  if (rows.length === 0) return "";
  const head = [
    "",
    "",
    "CPU bare, ms",
    "CPU of all, ms",
    "CPU of the supervisor, ms",
    "its memory at most, MB",
  ];
  return grid([head, ...rows]);
}

function summaryTable(results) {
  const peer = (one, unit) => (one ? `${one.name} ${figure(one.median)} ${unit}` : "–");
  const rows = summaryRows(results)
    .filter(({ ours }) => ours !== undefined)
    .map((row) => {
      const { ours, unit, ratio, beside, each, once, met, goals } = row;
      return [
        ...[
          labelOf(row),
          `${figure(ours)} ${unit}`,
          ratio === undefined ? "–" : `${ratio.toFixed(2)} × ${beside}`,
        ],
        ...[
          peer(each, unit),
          peer(once, unit),
          goals === 0 ? "–" : `${mark(met === goals)} ${met} of ${goals}`,
        ],
      ];
    });
  return grid([
    [
      "",
      "HERMES",
      "beside",
      "fastest peer that looks at each call",
      "fastest that is done at the start",
      "goals",
    ],
    ...rows,
  ]);
}

function missed(results) {
  const lines = summaryRows(results).flatMap(({ name, missed }) =>
    missed.map((text) => `- ${name}: ${text}`),
  );
  return lines.length === 0 ? "All goals are met." : `Goals that are not met:\n\n${lines.join("\n")}`;
}

function notMeasured({ notMeasured }) {
  if (notMeasured.length === 0) return "";
  const lines = notMeasured.map(({ scenario, what, why }) => `- ${scenario}: ${what}: ${plain(why)}`);
  return `Not measured:\n\n${lines.join("\n")}`;
}

function grid([head, ...rows]) {
  const line = (cells) => `| ${cells.map(plain).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** Escapes programs' output for Markdown and HTML. */
const plain = (text) => String(text).replace(/[\n|]/g, " ").replace(/</g, "&lt;");
