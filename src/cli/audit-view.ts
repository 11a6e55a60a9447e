import { recordLine } from "../audit/words.js";
import type { AuditRow } from "../store/store.js";
import { harmless } from "../text.js";
import { paint } from "./output.js";

const LONGEST = 200;

/** What agents wrote is in it: nothing of that reaches a terminal as anything but text. */
export function render(row: AuditRow): string {
  const p = paint(1);
  const time = new Date(row.time).toISOString().replace("T", " ").replace("Z", "");
  const text = harmless(recordLine(row));
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  const about = `${row.seq} ${row.kind}${row.session === null ? "" : ` ${row.session.slice(0, 8)}`}`;
  return `${p("dim", time)}  ${p("cyan", harmless(about))}  ${short}\n`;
}
