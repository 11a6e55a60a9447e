import { randomUUID } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { toolDigest } from "../guard/mcp/pins.js";
import type { CallOptions, ToolResult } from "../tools/options.js";
import type { Toolbox } from "../tools/toolbox.js";
import type { OpenQuestion, Questions } from "./questions.js";

/** Results that nobody came back for. */
const MOST_KEPT = 100;

/**
 * A call of a tool lives longer than the request that made it: while somebody is asked about it, the client is told so,
 * and comes back for the rest.
 */
export class Ongoing {
  /** Nobody can guess it: whoever knows it made the call. */
  readonly id = randomUUID();
  readonly key: string;
  /** A request waits for it at this moment. */
  attended = true;
  result: ToolResult | undefined;
  /** Told of what is printed, while a request waits. */
  onOutput: CallOptions["onOutput"];
  readonly settled: Promise<void>;
  readonly #end = new AbortController();
  readonly #asked: string[] = [];
  readonly #questions: Questions;
  #wake: () => void = () => {};

  constructor(toolbox: Toolbox, questions: Questions, name: string, input: unknown) {
    this.key = keyOf(name, input);
    this.#questions = questions;
    this.settled = toolbox
      .call(name, input, {
        signal: this.#end.signal,
        onOutput: (stream, bytes) => this.onOutput?.(stream, bytes),
        asked: (approval) => {
          this.#asked.push(approval);
          this.#wake();
        },
      })
      .then((result) => {
        this.result = result;
      });
    this.settled.catch(() => {});
  }

  /** What it waits for now; undefined when it has ended. */
  async question(): Promise<OpenQuestion | undefined> {
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await turn(); // an approval is told of just before the question is there
      if (this.result) return undefined;
      const open = this.#asked.map((id) => this.#questions.get(id)).find((question) => question);
      if (open) return open;
      await Promise.race([this.settled, woken]);
    }
  }

  waitsFor(approval: string): OpenQuestion | undefined {
    return this.#asked.includes(approval) ? this.#questions.get(approval) : undefined;
  }

  /** Ends everything that the call started. */
  abort(why: unknown): void {
    this.#end.abort(why);
  }
}

/** The calls of a session that have not been answered for good. */
export class Calls {
  readonly #toolbox: Toolbox;
  readonly #questions: Questions;
  readonly #ongoing = new Map<string, Ongoing>();

  constructor(toolbox: Toolbox, questions: Questions) {
    this.#toolbox = toolbox;
    this.#questions = questions;
  }

  begin(name: string, input: unknown): Ongoing {
    const call = new Ongoing(this.#toolbox, this.#questions, name, input);
    this.#ongoing.set(call.id, call);
    this.#forgetOld();
    return call;
  }

  /** The one with this id, or one that the client was told to come back for with the same input. */
  find(name: string, input: unknown, id?: string): Ongoing | undefined {
    const key = keyOf(name, input);
    const found =
      id === undefined
        ? [...this.#ongoing.values()].find((call) => call.key === key && !call.attended)
        : this.#ongoing.get(id);
    if (found?.key !== key) return undefined;
    found.attended = true;
    return found;
  }

  /** The client has its result. */
  done({ id }: Ongoing): void {
    this.#ongoing.delete(id);
  }

  #forgetOld(): void {
    const ended = [...this.#ongoing.values()].filter((call) => call.result && !call.attended);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MOST_KEPT))) this.#ongoing.delete(id);
  }
}

function keyOf(name: string, input: unknown): string {
  return toolDigest([name, input ?? {}]);
}
