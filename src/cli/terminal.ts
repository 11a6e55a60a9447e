import { openSync, writeSync } from "node:fs";
import { ReadStream } from "node:tty";
import type { Answer } from "../approval/question.js";
import { readStat } from "../process/proc.js";
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

/** Something that is asked on a terminal. */
export interface Prompt {
  /** `question 3`, `approval 1a2b3c4d` */
  readonly id: string;
  /** Harmless already; ends where the answer is typed. */
  readonly text: string;
  /** Takes the answer; returns what is to be said about it. */
  answer(answer: Answer): string | undefined | Promise<string | undefined>;
}

/**
 * The terminal that HERMES was started from: asks one thing at a time. It is opened by its own name: stdin is the
 * program's. Enter alone is a no.
 */
export class Terminal {
  readonly #waiting: Prompt[] = [];
  #input: ReadStream | undefined;
  #output = -1;
  #later: NodeJS.Timeout | undefined;

  ask(prompt: Prompt): void {
    this.#waiting.push(prompt);
    if (this.#waiting.length === 1) this.#show();
  }

  withdraw(id: string, why: string): void {
    const at = this.#waiting.findIndex((one) => one.id === id);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    if (at > 0 || !this.#input) return;
    this.#say(`\nhermes: ${id} is withdrawn: ${why}\n`);
    this.#next();
  }

  /** Asks nothing more, and lets go of the terminal. */
  close(): void {
    this.#waiting.length = 0;
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
      this.#answer(first, "no"); // there is no terminal any more
      return;
    }
    this.#say(first.text);
    this.#input.on("data", (line) => this.#hear(String(line)));
    this.#input.on("error", () => this.#hear("no"));
    this.#input.on("end", () => this.#hear("no"));
  }

  #hear(line: string): void {
    const [first] = this.#waiting;
    if (!first) return;
    const answer = WORDS[line.trim().toLowerCase()];
    if (answer === undefined) this.#say("  please answer y, s, a or n: ");
    else this.#answer(first, answer);
  }

  #answer(prompt: Prompt, answer: Answer): void {
    this.#waiting.shift();
    const told = prompt.answer(answer);
    if (typeof told === "string") this.#say(`  ${told}\n`);
    else
      told?.then(
        (text) => text !== undefined && this.#say(`hermes: ${prompt.id}: ${text}\n`),
        (error: Error) => this.#say(`hermes: ${prompt.id}: ${error.message}\n`),
      );
    this.#next();
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
  return terminalGroup() === readStat("self")?.group;
}

/** The process group that the terminal listens to; -1 without a terminal. */
function terminalGroup(): number {
  return readStat("self")?.foreground ?? -1;
}
