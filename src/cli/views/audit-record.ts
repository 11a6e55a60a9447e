import { escapeControl } from "../../nouns/text.js";
import { recordLine } from "../../record/audit/record-line.js";
import type { AuditRow } from "../../record/store/store.js";
import { paint } from "./output.js";

const LONGEST = 200;

/** Records contain text of agents: all of it is escaped for the terminal. */
export function renderAuditRow(row: AuditRow): string {
  const p = paint(1);
  const time = new Date(row.time).toISOString().replace("T", " ").replace("Z", "");
  const text = escapeControl(recordLine(row));
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  const about = `${row.seq} ${row.kind}${row.session === null ? "" : ` ${row.session.slice(0, 8)}`}`;
  return `${p("dim", time)}  ${p("cyan", escapeControl(about))}  ${short}\n`;
}
