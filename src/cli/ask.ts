import { userInfo } from "node:os";
import { resolve } from "node:path";
import { approveAlways, whyNotAlways } from "../approval/always.js";
import type { Approver } from "../approval/approver.js";
import type { Answered, GivenAnswer } from "../approval/desk.js";
import type { ApprovalItem } from "../approval/item.js";
import { type Answer, type Question, shellWords } from "../approval/question.js";
import { harmless } from "../text.js";
import type { Standstill } from "./standstill.js";
import { Terminal } from "./terminal.js";

/** Asks the questions of a session on the terminal. */
export class TerminalApprover {
  readonly #approvals: string | undefined;
  readonly #reload: () => void;
  readonly #terminal: Terminal;

  /** `approvals` is where answers for always are kept; `session` has the same terminal. */
  constructor(approvals: string | undefined, reload: () => void, session: Standstill) {
    this.#approvals = approvals === undefined ? undefined : resolve(approvals);
    this.#reload = reload;
    this.#terminal = new Terminal(session);
  }

  ask(question: Question, answer: (answer: Answer) => void): void {
    this.#terminal.ask({
      id: `question ${question.id}`,
      text: questionText(question),
      choices: choices(this.#approvals !== undefined, question.patience),
      answer: (given) => {
        const [kept, told] = given === "always" ? this.#always(question) : [given];
        answer(kept);
        return told;
      },
    });
  }

  withdraw(id: number, why: string): void {
    this.#terminal.withdraw(`question ${id}`, why);
  }

  /** Somebody wants the program to end. */
  interrupt(): void {
    this.#terminal.interrupt();
  }

  /** Where it cannot be kept for always, it holds once, and why is told. */
  #always(question: Question): readonly [answer: Answer, told: string] {
    const refused =
      this.#approvals === undefined
        ? "there is no file for it: name one with --approvals"
        : whyNotAlways(question);
    try {
      if (refused !== undefined) throw new Error(refused);
      approveAlways(this.#approvals!, question);
      this.#reload();
      return ["always", `kept in ${this.#approvals}`];
    } catch (error) {
      return ["once", `not for always: ${(error as Error).message}; once, then`];
    }
  }
}

function questionText({ id, what, who, policy, rule, reason }: Question): string {
  const why = `${policy}${rule === undefined ? "" : `/${rule}`}: ${reason ?? "no reason given"}`;
  return [
    `hermes: question ${id}: may this happen?`,
    `  what  ${legible(what)}`,
    `  why   ${legible(why)}`,
    ...whoLines(who.map(({ pid, argv }) => [pid, shellWords(argv)])),
  ].join("\n");
}

/** Asks what waits in the queue on the terminal. */
export class TerminalQueueApprover implements Approver {
  readonly name = "terminal";
  readonly #terminal = new Terminal();
  readonly #by = `terminal:${userName()}`;

  ask(item: ApprovalItem, answer: (given: GivenAnswer) => Promise<Answered>): void {
    this.#terminal.ask({
      id: titleOf(item.id),
      text: itemText(item),
      choices: choices(item.notAlways === undefined, Math.max(item.expires - Date.now(), 0)),
      answer: async (given) => (await answer({ answer: given, by: this.#by })).told,
    });
  }

  withdraw(id: string, why: string): void {
    this.#terminal.withdraw(titleOf(id), harmless(why));
  }

  close(): void {
    this.#terminal.close();
  }
}

const titleOf = (id: string) => `approval ${id.slice(0, 8)}`;

function itemText({ id, what, findings, detail }: ApprovalItem): string {
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
  ].join("\n");
}

/** Who asks is told for orientation, and may be told in short. */
function whoLines(askers: readonly (readonly [pid: number, command: string])[]): string[] {
  return askers.map(
    ([pid, command], i) => `  ${i === 0 ? "who " : "by  "}  ${legible(short(command))} (${pid})`,
  );
}

/** Every letter takes its own place: what joins another, or is not seen, is spelled out. */
function legible(text: string): string {
  return harmless(text).replace(
    /[\p{M}\p{Cf}\p{Co}\p{Cn}\u115f\u1160\u2800\u3164\uffa0]|(?! )\p{Zs}/gu,
    (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`,
  );
}

function choices(always: boolean, patience: number): string {
  const silence = `so is ${Math.round(patience / 1000)} s of silence`;
  return `  y once · s for this session${always ? " · a always" : ""} · n no\n  (Enter is no; ${silence}) `;
}

/** Who sits here, for the record. */
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
