import type { Cell } from "./columns.js";

/** Rows as text. Each gives pieces of any size; nothing is kept but what a table needs to know its widths. */

export type Rows = Iterable<readonly Cell[]>;

/** RFC 4180. */
export function* csv(columns: readonly string[], rows: Rows): Generator<string> {
  yield `${columns.map(csvCell).join(",")}\r\n`;
  for (const row of rows) yield `${row.map(csvCell).join(",")}\r\n`;
}

function csvCell(cell: Cell): string {
  if (cell === null) return "";
  const text = String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One object per line. */
export function* jsonLines(columns: readonly string[], rows: Rows): Generator<string> {
  for (const row of rows)
    yield `${JSON.stringify(Object.fromEntries(columns.map((name, i) => [name, row[i]])))}\n`;
}

const SAMPLE = 200;
const MAX_WIDTH = 60;

/** Aligned columns; widths are those of the first rows, and what is longer sticks out. */
export function* table(columns: readonly string[], rows: Rows): Generator<string> {
  const first: string[][] = [];
  const all = rows[Symbol.iterator]();
  let next = all.next();
  for (; !next.done && first.length < SAMPLE; next = all.next()) first.push(next.value.map(shown));
  const numeric = columns.map((_, i) => first.length > 0 && first.every((row) => /^-?[\d.]*$/.test(row[i]!)));
  const widths = columns.map((name, i) =>
    Math.min(MAX_WIDTH, Math.max(name.length, ...first.map((row) => row[i]!.length))),
  );
  const line = (cells: readonly string[]) =>
    `${cells
      .map((cell, i) => (numeric[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join("  ")
      .trimEnd()}\n`;
  yield line(columns);
  yield line(widths.map((width) => "─".repeat(width)));
  for (const row of first) yield line(row);
  for (; !next.done; next = all.next()) yield line(next.value.map(shown));
}

/** Names come from programs, and may hold what a terminal obeys. */
function shown(cell: Cell): string {
  if (cell === null) return "";
  return String(cell).replaceAll(
    /[\u0000-\u001f\u007f-\u009f]/g,
    (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}
