import { randomUUID } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { toolDigest } from "../../intent/guard/mcp/pins.js";
import type { CallOptions, ToolResult } from "../tools/options.js";
import type { Toolbox } from "../tools/toolbox.js";
import type { CallQuestions, OpenQuestion } from "./questions.js";

/** How many unclaimed results are kept. */
const MOST_KEPT = 100;

/**
 * A tool call can outlive its request. While an approver is asked, the client gets an interim answer and comes back for the
 * result.
 */
export class OngoingCall {
  /** Unguessable: only the caller knows it. */
  readonly id = randomUUID();
  readonly key: string;
  /** A request currently waits for the result. */
  hasWaiter = true;
  result: ToolResult | undefined;
  /** Called with output while a request waits. */
  onOutput: CallOptions["onOutput"];
  readonly finished: Promise<void>;
  readonly #end = new AbortController();
  readonly #asked: string[] = [];
  readonly #questions: CallQuestions;
  #wake: () => void = () => {};

  constructor(toolbox: Toolbox, questions: CallQuestions, name: string, input: unknown) {
    this.key = keyOf(name, input);
    this.#questions = questions;
    this.finished = toolbox
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
    this.finished.catch(() => {});
  }

  /** The question that the call waits for; undefined when the call has ended. */
  async question(): Promise<OpenQuestion | undefined> {
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await turn(); // the event of an approval comes just before its question
      if (this.result) return undefined;
      const open = this.#asked.map((id) => this.#questions.get(id)).find((question) => question);
      if (open) return open;
      await Promise.race([this.finished, woken]);
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

/** The unfinished calls of a session. */
export class OngoingCalls {
  readonly #toolbox: Toolbox;
  readonly #questions: CallQuestions;
  readonly #ongoing = new Map<string, OngoingCall>();

  constructor(toolbox: Toolbox, questions: CallQuestions) {
    this.#toolbox = toolbox;
    this.#questions = questions;
  }

  begin(name: string, input: unknown): OngoingCall {
    const call = new OngoingCall(this.#toolbox, this.#questions, name, input);
    this.#ongoing.set(call.id, call);
    this.#forgetOld();
    return call;
  }

  /** The call with this id, or one with the same input that the client was told to come back for. */
  find(name: string, input: unknown, id?: string): OngoingCall | undefined {
    const key = keyOf(name, input);
    const found =
      id === undefined
        ? [...this.#ongoing.values()].find((call) => call.key === key && !call.hasWaiter)
        : this.#ongoing.get(id);
    if (found?.key !== key) return undefined;
    found.hasWaiter = true;
    return found;
  }

  /** The client has the result. */
  done({ id }: OngoingCall): void {
    this.#ongoing.delete(id);
  }

  #forgetOld(): void {
    const ended = [...this.#ongoing.values()].filter((call) => call.result && !call.hasWaiter);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MOST_KEPT))) this.#ongoing.delete(id);
  }
}

function keyOf(name: string, input: unknown): string {
  return toolDigest([name, input ?? {}]);
}
