import { escapeControl } from "../../nouns/text.js";
import type { LogEntry } from "../log-entry.js";
import { paint } from "./output.js";

const LONGEST = 200;
const LONGEST_RUN = 40;

/** One or two lines. What they show comes from agents and programs: all of it is escaped. */
export function logLine({ id, time, run, action, denied, what, by, reason, times, allow }: LogEntry): string {
  const p = paint(1);
  const at = new Date(time).toISOString().replace("T", " ").slice(0, 19);
  const word = p(denied ? "red" : action === "ask" ? "yellow" : "green", action.padEnd(7));
  const repeated = times > 1 ? ` ×${times}` : "";
  const why = reason === undefined ? "" : `: ${reason}`;
  const about = `${cut(run, LONGEST_RUN)}  ${cut(what, LONGEST)}${repeated}${by === "" ? "" : `  ${by}${why}`}`;
  const way =
    denied && allow !== undefined
      ? `${" ".repeat(21)}to allow: ${cut(allow, LONGEST)}  (or hermes allow ${id})\n`
      : "";
  return `${p("dim", at)}  ${word} ${denied ? `${p("cyan", id)} ` : ""}${escapeControl(about)}\n${p("dim", escapeControl(way.trimEnd()))}${way === "" ? "" : "\n"}`;
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
