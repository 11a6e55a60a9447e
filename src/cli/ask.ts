import { userInfo } from "node:os";
import { resolve } from "node:path";
import { approveAlways, whyNotAlways } from "../approval/always.js";
import type { Approver } from "../approval/approver.js";
import type { Answered, GivenAnswer } from "../approval/desk.js";
import type { ApprovalItem } from "../approval/item.js";
import type { Answer, Question } from "../approval/question.js";
import { harmless } from "../text.js";
import { Terminal } from "./terminal.js";

/** Asks the questions of a session on the terminal. */
export class TerminalApprover {
  readonly #approvals: string | undefined;
  readonly #reload: () => void;
  readonly #terminal = new Terminal();

  /** `approvals` is where answers for always are kept. */
  constructor(approvals: string | undefined, reload: () => void) {
    this.#approvals = approvals === undefined ? undefined : resolve(approvals);
    this.#reload = reload;
  }

  ask(question: Question, answer: (answer: Answer) => void): void {
    this.#terminal.ask({
      id: `question ${question.id}`,
      text: this.#text(question),
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

  #text({ id, what, who, policy, rule, reason, patience }: Question): string {
    const asker = who.map(({ pid, argv }) => `${short(argv.join(" "))} (${pid})`).join(" ← ");
    const why = `${policy}${rule === undefined ? "" : `/${rule}`}: ${reason ?? "no reason given"}`;
    return [
      `\nhermes: question ${id}: may this happen?`,
      `  what  ${harmless(what)}`,
      `  who   ${harmless(asker)}`,
      `  why   ${harmless(why)}`,
      choices(this.#approvals !== undefined, patience),
    ].join("\n");
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

/** Asks what waits in the queue on the terminal. */
export class TerminalQueueApprover implements Approver {
  readonly name = "terminal";
  readonly #terminal = new Terminal();
  readonly #by = `terminal:${userName()}`;

  ask(item: ApprovalItem, answer: (given: GivenAnswer) => Promise<Answered>): void {
    this.#terminal.ask({
      id: titleOf(item.id),
      text: itemText(item),
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

function itemText({ id, what, findings, expires, notAlways, detail }: ApprovalItem): string {
  const who = Array.isArray(detail.who) ? (detail.who as { pid: number; command: string }[]) : [];
  const asker = who.map(({ pid, command }) => `${short(command)} (${pid})`).join(" ← ");
  return [
    `\nhermes: ${titleOf(id)}: may this happen?`,
    `  what  ${harmless(what)}`,
    ...(asker === "" ? [] : [`  who   ${harmless(asker)}`]),
    ...findings.map(({ rule, reason }) => `  why   ${harmless(`${rule}: ${reason}`)}`),
    choices(notAlways === undefined, Math.max(expires - Date.now(), 0)),
  ].join("\n");
}

function choices(always: boolean, patience: number): string {
  const silence = `so is ${Math.round(patience / 1000)} s of silence`;
  return `  y once · s for this session${always ? " · a always" : ""} · n no (Enter is no; ${silence}) `;
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
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
