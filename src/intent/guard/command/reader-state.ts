import type { Span } from "../finding.js";
import type { Printed } from "./expand.js";
import { type CommandReading, TooComplex } from "./reading.js";
import type { ShellScope } from "./scope.js";

const MAX_DEPTH = 12;
const MAX_WORK = 4000;

/** The text that the reader walks at the moment, and how it got there. */
export interface SourceText {
  readonly source: string;
  /** Set for text inside a word of the input: findings point at that word. */
  readonly within: Span | undefined;
  /** The wrappers around it, outermost first. */
  readonly via: readonly string[];
  /** It comes from a file of the project. */
  readonly filed: boolean;
  /** The reader only suspects that it is a command. */
  readonly suspected: boolean;
}

/** The state of one reading: its result so far, what the shell knows, the current text, and limits on depth and work. */
export class ReaderState {
  readonly reading: CommandReading;
  scope: ShellScope;
  #text: SourceText;
  #work = MAX_WORK;
  #depth = 0;

  constructor(source: string, scope: ShellScope) {
    this.scope = scope;
    this.#text = { source, within: undefined, via: [], filed: false, suspected: false };
    this.reading = {
      invocations: [],
      code: [],
      errors: [],
      forkBomb: undefined,
      endless: undefined,
      home: scope.get("HOME")?.[0] ?? "",
    };
  }

  get text(): SourceText {
    return this.#text;
  }

  spend(amount: number): void {
    this.#work -= amount;
    if (this.#work < 0) throw new TooComplex("the command does too much to be judged");
  }

  locate(pos: number, end: number): Span {
    return this.#text.within ?? { start: pos, end };
  }

  addError(message: string, pos = 0): void {
    const span = this.locate(pos, Math.min(pos + 1, this.#text.source.length));
    this.reading.errors.push({ message, span });
  }

  /** Runs `read` with another text as the current one. */
  inside<T>(text: SourceText, read: () => T): T {
    const outer = this.#text;
    if (++this.#depth > MAX_DEPTH) throw new TooComplex("the command is nested too deep");
    this.#text = text;
    try {
      return read();
    } finally {
      this.#text = outer;
      this.#depth--;
    }
  }

  /** Runs `read` with a copy of the variables, as a subshell has it. */
  subshell<T>(read: () => T): T {
    const outer = this.scope;
    this.scope = outer.copy();
    try {
      return read();
    } finally {
      this.scope = outer;
    }
  }

  /** The output of `read`, and the invocations that it added. */
  collect(read: () => string): Printed {
    const first = this.reading.invocations.length;
    const text = read();
    return { text, from: this.reading.invocations.slice(first) };
  }
}
