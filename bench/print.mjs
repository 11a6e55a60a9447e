import { progress } from "./progress.mjs";
import { confidence, judge, ratioOf, summarise } from "./stats.mjs";

const DIGITS = { ms: 1, s: 1 };

const spread = ({ median, low, high }, digits) =>
  `${median.toFixed(digits)} [${low.toFixed(digits)}–${high.toFixed(digits)}]`;

/**
 * One line per subject: its time, the ratio to the first, and its goals. `about` names the subject for the summary and its
 * peers: { name, ours, bare, peers }.
 */
export function printTable(title, unit, samples, goals, about) {
  const [baseline] = samples.keys();
  const judged = judge(goals, samples);
  const ratios = new Map([...samples].map(([name, times]) => [name, ratioOf(times, samples.get(baseline))]));
  const rows = [...samples].map(([name, times]) => [
    name,
    spread(summarise(times), DIGITS[unit] ?? 0),
    `${ratios.get(name).median.toFixed(2)}×`,
    judged
      .filter((goal) => goal.subject === name)
      .map((g) => `${mark(g.holds)} ${spread(g.ratio, 2)} × ${g.against} (goal ≤ ${g.atMost.toFixed(2)})`)
      .join("   "),
  ]);
  printColumns(title, [["", `${unit} [middle half]`, `× ${baseline}`, "goals"], ...rows]);
  return {
    title,
    unit,
    baseline,
    rows: Object.fromEntries(
      [...samples].map(([name, times]) => [
        name,
        { ...summarise(times), ratio: ratios.get(name), confidence: confidence(times), samples: times },
      ]),
    ),
    goals: judged,
    ...(about && { about }),
  };
}

/** Figures with a fixed bound and no comparison: { name, value, unit, goal, holds }. */
export function printChecks(title, checks) {
  progress("");
  process.stdout.write(`\n${title}\n`);
  for (const { name, value, unit, goal, holds } of checks)
    process.stdout.write(
      `  ${holds === undefined ? " " : mark(holds)} ${name}: ${figure(value)} ${unit}${goal ? ` (goal ${goal})` : ""}\n`,
    );
  return { title, checks };
}

/** The first column is left-aligned, the last unchanged, the others right-aligned. */
export function printColumns(title, rows) {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)));
  progress("");
  process.stdout.write(`\n${title}\n`);
  for (const row of rows) {
    const cells = row.map((cell, i) =>
      i === 0 ? cell.padEnd(widths[i]) : i === row.length - 1 ? cell : cell.padStart(widths[i]),
    );
    process.stdout.write(`  ${cells.join("  ").trimEnd()}\n`);
  }
}

export const mark = (holds) => (holds ? "✓" : "✗");

/** Three digits: a shared machine gives no more precision. */
export function figure(value) {
  if (value >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString("en");
  return value.toFixed(value >= 10 ? 1 : 2);
}
