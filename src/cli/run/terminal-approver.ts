import { userInfo } from "node:os";
import { escapeControl } from "../../nouns/text.js";
import type { Answered, GivenAnswer } from "../../people/approval/answer-service.js";
import { type ApprovalItem, coverageOf } from "../../people/approval/approval-item.js";
import type { Approver } from "../../people/approval/approver.js";
import type { SessionPause } from "./pause-session.js";
import { Terminal } from "./terminal.js";

/** Asks on the terminal what waits in the queue. */
export class TerminalApprover implements Approver {
  readonly name = "terminal";
  readonly #terminal: Terminal;
  readonly #by = `terminal:${userName()}`;

  /** `session` has the same terminal, and is stopped while a question is shown. */
  constructor(session?: SessionPause) {
    this.#terminal = new Terminal(session);
  }

  ask(item: ApprovalItem, answer: (given: GivenAnswer) => Promise<Answered>): void {
    this.#terminal.ask({
      id: titleOf(item.id),
      text: itemText(item),
      choices: choices(item.notAlways === undefined, Math.max(item.expires - Date.now(), 0)),
      answer: async (given) => (await answer({ answer: given, by: this.#by })).told,
    });
  }

  withdraw(id: string, why: string): void {
    this.#terminal.withdraw(titleOf(id), escapeControl(why));
  }

  /** The user, or another process, wants the program to end: the question that is shown is refused. */
  interrupt(): void {
    this.#terminal.interrupt();
  }

  close(): void {
    this.#terminal.close();
  }
}

/** An approver for `--ask no`: refuses every question, and says so. */
export const REFUSES_ALL: Approver = {
  name: "no",
  ask: (_, answer) => void answer({ answer: "no", by: "--ask no", note: "--ask no refuses every question" }),
  withdraw() {},
};

/** How a question that waits in the queue is answered. */
export function waitingText(id: string): string {
  const short = id.slice(0, 8);
  return `waits for an answer: hermes approvals approve ${short} (or deny ${short}), or hermes console`;
}

const titleOf = (id: string) => `approval ${id.slice(0, 8)}`;

function itemText(item: ApprovalItem): string {
  const { id, what, findings, detail } = item;
  const { who, cwd, diff } = detail;
  const askers = Array.isArray(who) ? (who as { pid: number; command: string }[]) : [];
  return [
    `hermes: ${titleOf(id)}: may this happen?`,
    `  what  ${legible(what)}`,
    ...findings.map(({ rule, reason }) => `  why   ${legible(`${rule}: ${reason}`)}`),
    ...(typeof cwd === "string" ? [`  where ${legible(cwd)}`] : []),
    ...(typeof diff === "string"
      ? ["  change", ...diff.split("\n").map((line) => `        ${legible(line)}`)]
      : []),
    ...whoLines(askers.map(({ pid, command }) => [pid, command])),
    `  scope ${legible(coverageOf(item))}`,
  ].join("\n");
}

/** The processes that ask are shown for orientation, and may be cut. */
function whoLines(askers: readonly (readonly [pid: number, command: string])[]): string[] {
  return askers.map(
    ([pid, command], i) => `  ${i === 0 ? "who " : "by  "}  ${legible(short(command))} (${pid})`,
  );
}

/** Every letter takes its own place: combining and invisible characters are spelled out. */
function legible(text: string): string {
  return escapeControl(text).replace(
    /[\p{M}\p{Cf}\p{Co}\p{Cn}\u115f\u1160\u2800\u3164\uffa0]|(?! )\p{Zs}/gu,
    (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`,
  );
}

/** Each line fits on a narrow terminal. */
function choices(always: boolean, patience: number): string {
  const silence = `Enter is no; so is ${Math.round(patience / 1000)} s of silence`;
  const usual = `y once · s for this session${always ? " · a always" : ""} · n no`;
  return `  ${usual}\n  (ns not in this session · na never · ${silence}) `;
}

/** The user of this terminal, for the record. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}

function short(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)} … and ${text.length - 200} letters more` : text;
}
