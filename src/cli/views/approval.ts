import { escapeControl } from "../../nouns/text.js";
import { type ApprovalItem, coverageOf } from "../../people/approval/approval-item.js";
import type { LastingAnswer } from "../../people/approval/lasting.js";
import { EXACT_COMMAND } from "../../people/approval/preset-answer.js";
import type { ApprovalState } from "../../record/store/store.js";
import { paint } from "./output.js";

const STYLE = {
  pending: "yellow",
  granted: "green",
  refused: "red",
  expired: "dim",
  withdrawn: "dim",
} as const satisfies Readonly<Record<ApprovalState, string>>;

/** An approval in a list. All of its text is hostile. */
export function itemLines(item: ApprovalItem): string {
  const style = paint(1);
  const { id, state, kind, what, findings } = item;
  return [
    `${style("bold", id.slice(0, 8))}  ${style(STYLE[state], state)}  ${kind}  ${cut(escapeControl(what), id)}`,
    ...findings.map(({ rule, reason }) => `  ${escapeControl(`${rule}: ${reason}`)}`),
    `  ${style("dim", history(item))}`,
    "",
  ].join("\n");
}

/** All of one. */
export function itemDetail(item: ApprovalItem): string {
  const { id, state, kind, what, session, toolCall, digest, keys, findings, notAlways, note, detail } = item;
  const rows: [string, string | null | undefined][] = [
    ["approval", `${id} (${kind}), ${state}`],
    ["what", what],
    ...findings.flatMap(({ rule, reason, instead }): [string, string | undefined][] => [
      ["why", `${rule}: ${reason}`],
      ["instead", instead],
    ]),
    ["keys", keys.join(", ")],
    ["session", session],
    ["call", toolCall],
    ["digest", digest],
    ["times", history(item)],
    ["note", note],
    ["scope", coverageOf(item)],
    ["always", notAlways],
    ...Object.entries(detail).map(([key, value]): [string, string] => [key, inWords(value)]),
  ];
  return rows
    .filter(([, value]) => value)
    .map(
      ([key, value]) =>
        `${escapeControl(key).padEnd(11)} ${value!
          .split("\n")
          .map(escapeControl)
          .join(`\n${" ".repeat(12)}`)}\n`,
    )
    .join("");
}

/** An answer for always in a list. */
export function lastingLines({ key, grants, what, covers, by, time: at }: LastingAnswer): string {
  const style = paint(1);
  const short = key.startsWith(EXACT_COMMAND)
    ? key.slice(EXACT_COMMAND.length, EXACT_COMMAND.length + SHORT)
    : key;
  const given = by === undefined ? "" : `, by ${by}${at === undefined ? "" : ` ${time(at)}`}`;
  return [
    `${style("bold", escapeControl(short))}  ${grants ? style("green", "allow") : style("red", "deny")}  ${escapeControl(what)}`,
    `  ${style("dim", escapeControl(`${covers}${given}`))}`,
    "",
  ].join("\n");
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join("\n");
  return typeof value === "string" ? value : JSON.stringify(value);
}

function history({ created, expires, state, answered, answeredBy, scope, spent }: ApprovalItem): string {
  const asked = `asked ${time(created)}`;
  if (state === "pending") return `${asked}, refused without an answer at ${time(expires)}`;
  const how = scope === null ? state : `${state} (${scope})`;
  const by = answeredBy === null ? "" : ` by ${escapeControl(answeredBy)}`;
  return `${asked}, ${how}${by} ${time(answered ?? created)}${spent === null ? "" : `, used ${time(spent)}`}`;
}

const time = (at: number) => new Date(at).toISOString().replace("T", " ").slice(0, 19);

/** A list shows the beginning, and says how to see the rest. */
function cut(text: string, id: string): string {
  if (text.length <= LISTED) return text;
  return `${text.slice(0, LISTED)} … ${text.length - LISTED} letters more: hermes approvals show ${id.slice(0, 8)}`;
}

const LISTED = 400;
const SHORT = 12;
