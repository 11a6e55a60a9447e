import { closeSync, openSync, writeSync } from "node:fs";
import { ReadStream } from "node:tty";
import { native, TERMINAL_STATE } from "../../kernel/binding/native.js";
import { readStat } from "../../kernel/process/proc.js";
import { type Answer, kindOf, parseAnswer } from "../../people/approval/answer.js";
import { say } from "../views/output.js";
import { paginate } from "../views/paginate.js";
import type { SessionPause } from "./pause-session.js";

const FOREGROUND_MS = 200;

/** Something that is asked on a terminal. */
interface Prompt {
  /** `approval 1a2b3c4d` */
  readonly id: string;
  /** Escaped already. All of it is shown. */
  readonly text: string;
  /** What can be answered; escaped too. */
  readonly choices: string;
  /** Takes the answer; returns what is to be said about it. */
  answer(answer: Answer): string | undefined | Promise<string | undefined>;
}

/**
 * Output of the program before must not change what is seen of a question: a half-written command to the
 * terminal ends (CAN, ST), modes that hide, colour, move or delay text are undone (ECMA-48, DEC private modes), and the
 * question is shown on the other screen, cleared.
 */
const OTHER_SCREEN = [
  "\u0018\u001b\\", // ends a sequence that was begun
  "\u001b[?1049h", // before the rest: it remembers the cursor
  "\u001b[!p\u001b[0m\u001b(B\u001b)B\u000f\u001b%G", // soft reset, no colours, the usual letters
  "\u001b[?2026l\u001b[?5l\u001b[?6l\u001b[?69l\u001b[?7h\u001b[4l\u001b[20l\u001b[r", // not held back, no margins
  "\u001b[2J\u001b[H\u001b[?25h", // empty, with a cursor
].join("");
const CLEARED = "\u001b[0m\u001b[2J\u001b[H";
const BACK = "\u001b[2J\u001b[?1049l";

/**
 * The terminal that HERMES was started from: asks one thing at a time. It is opened by its own name: stdin is the
 * program's. Enter alone is a no.
 *
 * The program has the same terminal. So the whole session is stopped while a question is shown, what was typed before
 * does not count, and the question is shown on a screen of its own, page by page if it is long.
 */
export class Terminal {
  readonly #session: SessionPause | undefined;
  readonly #waiting: Prompt[] = [];
  readonly #state = Buffer.alloc(TERMINAL_STATE);
  #input: ReadStream | undefined;
  #output = -1;
  #later: NodeJS.Timeout | undefined;
  #pages: string[] = [];
  #isComing = false;

  /** `session` has the same terminal; absent where the programs that ask have another, and cannot open this one. */
  constructor(session?: SessionPause) {
    this.#session = session;
  }

  ask(prompt: Prompt): void {
    this.#waiting.push(prompt);
    if (this.#waiting.length === 1) void this.#show();
  }

  withdraw(id: string, why: string): void {
    const at = this.#waiting.findIndex((one) => one.id === id);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    if (at > 0 || !this.#input) return;
    this.#leave();
    this.#say(`hermes: ${id} is withdrawn: ${why}\n`);
    this.#next();
  }

  /** The user, or another process, wants the program to end: nothing is granted any more. */
  interrupt(): void {
    const [first] = this.#waiting;
    if (first && this.#input) this.#answer(first, "no");
  }

  /** Asks nothing more, and lets go of the terminal. */
  close(): void {
    this.#waiting.length = 0;
    this.#leave();
    this.#next();
  }

  /** A background process must not touch the terminal, unless the foreground is the session. */
  async #show(): Promise<void> {
    if (this.#waiting.length === 0 || this.#input || this.#isComing) return;
    if (!this.#mayAsk()) {
      this.#later = setTimeout(() => void this.#show(), FOREGROUND_MS);
      return;
    }
    this.#isComing = true;
    const refused = (await this.#session?.pause()) === false ? STIRS : undefined;
    this.#isComing = false;
    const [first] = this.#waiting;
    if (!first) {
      this.#session?.resume();
      return;
    }
    const why = refused ?? this.#take();
    if (why !== undefined) {
      say(
        `hermes: ${first.id} is refused: ${why}; use --ask queue, and answer with hermes approvals or hermes console\n`,
      );
      this.#answer(first, "no");
      return;
    }
    this.#pages = paginate(first.text, this.#size());
    this.#turn(OTHER_SCREEN);
    this.#input!.on("data", (line) => this.#hear(String(line)));
    this.#input!.on("error", () => this.#hear("no"));
    this.#input!.on("end", () => this.#hear("no"));
  }

  #mayAsk(): boolean {
    const group = terminalGroup();
    return group === readStat("self")?.group || this.#session?.owns(group) === true;
  }

  /** Opens it and makes it ours. Why not, else. */
  #take(): string | undefined {
    let terminal = -1;
    try {
      terminal = openSync("/dev/tty", "r+");
      const failed = native().takeTerminal(terminal, this.#state);
      if (failed < 0) throw new Error(`errno ${-failed}`);
      this.#output = terminal;
      this.#input = new ReadStream(terminal);
      return undefined;
    } catch (error) {
      if (terminal >= 0 && !this.#input) closeSync(terminal);
      return `the terminal cannot be used (${(error as Error).message})`;
    }
  }

  /** A program can tell the terminal any size: a small screen is the safe guess where it says a large one. */
  #size(): { columns: number; rows: number } {
    const size = Math.max(native().terminalSize(this.#output), 0);
    const within = (least: number, told: number, most: number) =>
      Math.max(least, Math.min(told || most, most));
    return { columns: within(20, size % 65_536, 80), rows: within(10, Math.floor(size / 65_536), 24) };
  }

  /** The next page; behind the last one are the answers that can be given. */
  #turn(clear = CLEARED): void {
    const page = this.#pages.shift()!;
    const left = this.#pages.length;
    const below =
      left > 0 ? `  pages that follow: ${left} (Enter goes on, n is no) ` : this.#waiting[0]!.choices;
    this.#say(`${isPlain() ? "\n" : clear}${page}\n${below}`);
  }

  #hear(line: string): void {
    const [first] = this.#waiting;
    if (!first) return;
    const answer = line.trim() === "" ? "no" : parseAnswer(line);
    const refuses = answer !== undefined && !kindOf(answer).grants && line.trim() !== "";
    if (this.#pages.length > 0 && !refuses) this.#turn();
    else if (answer === undefined) this.#say("  please answer y, s, a, n, ns or na: ");
    else this.#answer(first, answer);
  }

  #answer(prompt: Prompt, answer: Answer): void {
    this.#waiting.shift();
    this.#leave();
    const told = prompt.answer(answer);
    this.#say(`hermes: ${prompt.id}: ${answer}${typeof told === "string" ? `: ${told}` : ""}\n`);
    if (typeof told === "object")
      told.then(
        (text) => text !== undefined && this.#say(`hermes: ${prompt.id}: ${text}\n`),
        (error: Error) => this.#say(`hermes: ${prompt.id}: ${error.message}\n`),
      );
    this.#next();
  }

  /** Restores the terminal; the session is still stopped. */
  #leave(): void {
    if (!this.#input) return;
    if (!isPlain()) this.#say(BACK);
    native().giveTerminal(this.#output, this.#state);
    this.#input.destroy();
    this.#input = undefined;
    this.#output = -1;
  }

  #next(): void {
    clearTimeout(this.#later);
    if (this.#waiting.length === 0) this.#session?.resume();
    else void this.#show();
  }

  #say(text: string): void {
    try {
      if (this.#output < 0) throw new Error();
      writeSync(this.#output, text);
    } catch {
      say(text);
    }
  }
}

const STIRS = "the program could not be stopped while you answer, and could write over the question";

function isPlain(): boolean {
  return !process.env.TERM || process.env.TERM === "dumb";
}

/** Whether this process has a terminal. */
export function hasTerminal(): boolean {
  return terminalGroup() > 0;
}

/** The process group that the terminal listens to; -1 without a terminal. */
function terminalGroup(): number {
  return readStat("self")?.foreground ?? -1;
}
