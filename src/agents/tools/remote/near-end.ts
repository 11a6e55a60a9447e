import { HermesError, isErrorCode } from "../../../nouns/errors.js";
import { escapeControl } from "../../../nouns/text.js";
import { PACKAGE_VERSION } from "../../../nouns/version.js";
import { type Answer, type Reply, replyOf } from "../../../people/approval/answer.js";
import type { RunEvents, Running, RunResult } from "../backend.js";
import { encode, FrameReader, MAX_BODY } from "./frame.js";
import type { RemoteLink } from "./link.js";
import { HEARTBEAT, REMOTE_PROTOCOL, readToNear, type ToFar, type ToNear } from "./messages.js";

/** Milliseconds that the far side has: for its hello, for ending a run, and beyond a run's own timeout. */
const FOR_HELLO = 60_000;
const FOR_END = 10_000;
const BEYOND_TIME = 30_000;
/** Bytes of the process's stderr that are kept for an error message. */
const MAX_STDERR = 4096;

/** The near end of a link. A run is over when its process has ended and its resources are released. */
export class NearEnd implements Running {
  readonly started: Promise<void>;
  readonly result: Promise<RunResult>;
  #pid = 0;
  readonly #link: RemoteLink;
  readonly #events: RunEvents;
  #begin: () => void = () => {};
  #stage: "hello" | "starting" | "running" | "over" = "hello";
  #outcome: RunResult | HermesError | undefined;
  #stderr = "";
  #severed: Promise<void> | undefined;
  /** Open questions, and how long each may wait. */
  readonly #open = new Map<number, number>();
  #ending = false;
  #limit: NodeJS.Timeout;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(link: RemoteLink, events: RunEvents) {
    this.#link = link;
    this.#events = events;
    const { process } = link;
    const closed = new Promise<number | null>((resolve) => {
      process.once("close", resolve);
      process.on("error", (cause: NodeJS.ErrnoException) => {
        this.#outcome ??= new HermesError(
          "BACKEND",
          { where: link.where, message: `${process.spawnfile} cannot be started: ${cause.code}` },
          { cause },
        );
        if (process.pid === undefined) resolve(null);
      });
    });
    this.result = closed.then((exitCode) => this.#over(exitCode));
    this.started = new Promise((resolve, reject) => {
      this.#begin = resolve;
      this.result.then(() => resolve(), reject);
    });
    this.started.catch(() => {});
    process.once("exit", (_, signal) => {
      if (signal === null) this.#within(FOR_END, "its process ended but its output stayed open");
      else this.#lose(`${process.spawnfile} was ended by ${signal}`);
    });
    process.stdin.on("error", () => {}); // "close" reports the end
    process.stderr.on("data", (bytes: Buffer) => {
      this.#stderr = (this.#stderr + bytes.toString("utf8")).slice(-MAX_STDERR);
    });
    const frames = new FrameReader();
    process.stdout.on("data", (chunk: Buffer) => {
      try {
        for (const { head, body } of frames.push(chunk)) this.#hear(readToNear(head), body);
      } catch (error) {
        this.#lose(
          this.#stage === "hello"
            ? `its output is not the HERMES protocol: ${JSON.stringify(escapeControl(chunk.toString("utf8").slice(0, 200)))}`
            : `it sent ${(error as Error).message}`,
        );
      }
    });
    this.#limit = setTimeout(() => this.#lose("no answer"), FOR_HELLO);
    this.#heartbeat = setInterval(() => this.#send({ type: "alive" }), HEARTBEAT);
  }

  get pid(): number {
    return this.#pid;
  }

  write(bytes: string | Uint8Array): void {
    const all = Buffer.from(bytes as Uint8Array);
    for (let at = 0; at < all.length; at += MAX_BODY)
      this.#send({ type: "stdin" }, all.subarray(at, at + MAX_BODY));
  }

  closeInput(): void {
    this.#send({ type: "close-stdin" });
  }

  resize(columns: number, rows: number): void {
    this.#send({ type: "resize", columns, rows });
  }

  signal(name: NodeJS.Signals): void {
    this.#send({ type: "signal", name });
  }

  async kill(): Promise<void> {
    if (this.#stage === "running" || this.#stage === "starting") {
      this.#send({ type: "kill" });
      this.#ending = true;
      this.#within(FOR_END, "it did not end the run");
    } else if (this.#stage === "hello") this.#lose("it was ended before it started");
    await this.result.catch(() => {});
  }

  #hear(message: ToNear, body: Buffer): void {
    if (this.#stage === "over") return;
    if ((this.#stage === "hello") !== (message.type === "hello"))
      throw new Error(`${message.type} is unexpected here`);
    switch (message.type) {
      case "hello":
        this.#greet(message.protocol, message.version);
        break;
      case "started":
        this.#pid = message.pid;
        this.#stage = "running";
        this.#allowTime();
        this.#begin();
        break;
      case "stdout":
      case "stderr":
        this.#print(message.type, body);
        break;
      case "question":
        this.#ask(message.question);
        break;
      case "withdrawn":
        this.#open.delete(message.id);
        this.#allowTime();
        this.#events.withdrawn?.(message.id, message.why);
        break;
      case "problem":
        this.#events.problem?.(message.text);
        break;
      case "result":
        this.#settle(message.result);
        break;
      case "failed":
        this.#settle(this.#failure(message.code, message.message));
        break;
    }
  }

  #greet(protocol: number, version: string): void {
    if (protocol !== REMOTE_PROTOCOL || version !== PACKAGE_VERSION) {
      this.#lose(
        `it has HERMES ${escapeControl(version)}, but this is ${PACKAGE_VERSION}: install the same version`,
      );
      return;
    }
    this.#stage = "starting";
    const { credentials, order, home, surroundings } = this.#link;
    for (const { relative, contents } of credentials) this.#send({ type: "credential", relative }, contents);
    const { stdin, ...rest } = order; // our own stdin stays here
    this.#send({
      type: "start",
      order: stdin === "pipe" ? order : rest,
      home,
      ...(surroundings && { surroundings }),
    } as ToFar);
    this.#allowTime();
  }

  /** A run's timeout is paused while a person is asked. This limit is for a far side that ignores the timeout. */
  #allowTime(): void {
    if (this.#ending) return;
    const asking = Math.max(0, ...this.#open.values());
    const { timeout } = this.#link.order;
    if (this.#stage === "starting") this.#within(FOR_HELLO + asking, "it did not start");
    else this.#within(timeout + asking + BEYOND_TIME, "it did not end within its timeout");
  }

  /** Backpressure: a slow consumer of the output stops us, and then the far side, from reading more. */
  #print(stream: "stdout" | "stderr", body: Buffer): void {
    const taken = this.#events.output?.(stream, body);
    if (!(taken instanceof Promise)) return;
    const { stdout } = this.#link.process;
    stdout.pause();
    void taken.finally(() => stdout.resume());
  }

  #ask(question: Extract<ToNear, { type: "question" }>["question"]): void {
    const { id, patience } = question;
    this.#open.set(id, patience);
    this.#allowTime();
    const answer = (given: Answer | Reply) => {
      if (!this.#open.delete(id) || this.#stage === "over") return;
      this.#send({ type: "answer", id, ...replyOf(given) });
      this.#allowTime();
    };
    if (this.#events.question) this.#events.question(question, answer);
    else answer("no");
  }

  #send(message: ToFar, body?: Buffer): void {
    if (this.#stage !== "over") this.#link.process.stdin.write(encode(message, body));
  }

  /** The result is known; the process ends by itself. */
  #settle(outcome: RunResult | HermesError): void {
    this.#outcome ??= outcome;
    this.#stage = "over";
    this.#link.process.stdin.end();
    this.#within(FOR_END, "it did not exit");
  }

  #lose(why: string): void {
    this.#settle(new HermesError("LINK", { where: this.#link.where, message: why }));
    this.#severed ??= this.#link.sever();
  }

  #within(milliseconds: number, otherwise: string): void {
    clearTimeout(this.#limit);
    this.#limit = setTimeout(() => this.#lose(otherwise), milliseconds);
  }

  async #over(exitCode: number | null): Promise<RunResult> {
    this.#stage = "over";
    clearTimeout(this.#limit);
    clearInterval(this.#heartbeat);
    for (const id of this.#open.keys()) this.#events.withdrawn?.(id, "the run is over");
    await this.#severed;
    await this.#link.release();
    const { where } = this.#link;
    const outcome =
      this.#outcome ??
      new HermesError("LINK", { where, message: this.#link.explain(exitCode, lastLines(this.#stderr)) });
    if (outcome instanceof Error) throw outcome;
    return outcome;
  }

  #failure(code: string, message: string): HermesError {
    if (!isErrorCode(code)) return new HermesError("BACKEND", { where: this.#link.where, message });
    return Object.assign(new HermesError(code), { message });
  }
}

function lastLines(text: string): string {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  return lines.slice(-3).map(escapeControl).join(" · ");
}
