import { openSync, readFileSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { ReadStream } from "node:tty";
import { approveAlways, whyNotAlways } from "../approval/always.js";
import type { Answer, Question } from "../approval/question.js";
import { harmless } from "../text.js";
import { say } from "./output.js";

const FOREGROUND_MS = 200;
const WORDS: Readonly<Record<string, Answer>> = {
  y: "once",
  yes: "once",
  once: "once",
  s: "session",
  session: "session",
  a: "always",
  always: "always",
  n: "no",
  no: "no",
  "": "no",
};

interface Waiting {
  readonly question: Question;
  readonly answer: (answer: Answer) => void;
}

/**
 * Asks on the terminal that HERMES was started from, one question at a time. It opens the terminal by its own name:
 * stdin is the program's. Enter alone is a no.
 */
export class TerminalApprover {
  readonly #approvals: string | undefined;
  readonly #reload: () => void;
  readonly #waiting: Waiting[] = [];
  #input: ReadStream | undefined;
  #output = -1;
  #later: NodeJS.Timeout | undefined;

  /** `approvals` is where answers for always are kept. */
  constructor(approvals: string | undefined, reload: () => void) {
    this.#approvals = approvals === undefined ? undefined : resolve(approvals);
    this.#reload = reload;
  }

  ask(question: Question, answer: (answer: Answer) => void): void {
    this.#waiting.push({ question, answer });
    if (this.#waiting.length === 1) this.#show();
  }

  withdraw(id: number, why: string): void {
    const at = this.#waiting.findIndex(({ question }) => question.id === id);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    if (at > 0 || !this.#input) return;
    this.#say(`\nhermes: question ${id} is withdrawn: ${why}\n`);
    this.#next();
  }

  /** Whoever is in the background must not touch the terminal: it would be stopped. */
  #show(): void {
    const [first] = this.#waiting;
    if (!first || this.#input) return;
    if (!inForeground()) {
      this.#later = setTimeout(() => this.#show(), FOREGROUND_MS);
      return;
    }
    try {
      const terminal = openSync("/dev/tty", "r+");
      this.#output = terminal;
      this.#input = new ReadStream(terminal);
    } catch {
      first.answer("no"); // there is no terminal any more
      this.#next();
      return;
    }
    this.#say(this.#text(first.question));
    this.#input.on("data", (line) => this.#hear(String(line)));
    this.#input.on("error", () => this.#hear("no"));
    this.#input.on("end", () => this.#hear("no"));
  }

  #text(question: Question): string {
    const { id, what, who, policy, rule, reason, patience } = question;
    const always = this.#approvals === undefined ? "" : " · a always";
    const asker = who.map(({ pid, argv }) => `${short(argv.join(" "))} (${pid})`).join(" ← ");
    return [
      `\nhermes: question ${id}: may this happen?`,
      `  what  ${harmless(what)}`,
      `  who   ${harmless(asker)}`,
      `  why   ${harmless(`${policy}${rule === undefined ? "" : `/${rule}`}: ${reason ?? "no reason given"}`)}`,
      `  y once · s for this session${always} · n no (Enter is no; so is ${Math.round(patience / 1000)} s of silence) `,
    ].join("\n");
  }

  #hear(line: string): void {
    const [first] = this.#waiting;
    if (!first) return;
    const answer = WORDS[line.trim().toLowerCase()];
    if (answer === undefined) {
      this.#say("  please answer y, s, a or n: ");
      return;
    }
    first.answer(answer === "always" ? this.#always(first.question) : answer);
    this.#waiting.shift();
    this.#next();
  }

  /** Where it cannot be kept for always, it holds for this session, and why is told. */
  #always(question: Question): Answer {
    const refused =
      this.#approvals === undefined
        ? "there is no file for it: name one with --approvals"
        : whyNotAlways(question);
    try {
      if (refused !== undefined) throw new Error(refused);
      approveAlways(this.#approvals!, question);
      this.#say(`  kept in ${this.#approvals}\n`);
      this.#reload();
      return "always";
    } catch (error) {
      this.#say(`  not for always: ${(error as Error).message}; once, then\n`);
      return "once";
    }
  }

  #next(): void {
    clearTimeout(this.#later);
    this.#input?.destroy();
    this.#input = undefined;
    this.#show();
  }

  #say(text: string): void {
    try {
      writeSync(this.#output, text);
    } catch {
      say(text);
    }
  }
}

/** There is a terminal, and somebody may be looking at it. */
export function hasTerminal(): boolean {
  return terminalGroup() > 0;
}

function inForeground(): boolean {
  return terminalGroup() === fields()[2];
}

/** The process group that the terminal listens to; -1 without a terminal. */
function terminalGroup(): number {
  return fields()[5] ?? -1;
}

/** proc(5): state, parent, group, session, terminal, the terminal's group. */
function fields(): number[] {
  const text = readFileSync("/proc/self/stat", "latin1");
  return text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
}

function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
