import { statSync } from "node:fs";
import { homedir, hostname } from "node:os";
import type { Readable, Writable } from "node:stream";
import { HermesError } from "../../../nouns/errors.js";
import { PACKAGE_VERSION } from "../../../nouns/version.js";
import type { Reply } from "../../../people/approval/answer.js";
import type { Backend, RunEvents, Running } from "../backend.js";
import { ReceivedCredentials } from "./credentials.js";
import { encode, FrameReader, MAX_BODY } from "./frame.js";
import { REMOTE_PROTOCOL, readToFar, SILENCE, type ToFar, type ToNear } from "./messages.js";
import { type HostProtections, probeHost } from "./probe-host.js";

type Start = Extract<ToFar, { type: "start" }>;

/** Milliseconds that a run may take to end; then it ends together with this process. */
const FOR_END = 8000;
/** Milliseconds for sending the last message. */
const FOR_LAST_WORDS = 5000;

/** Runs one order that arrives over a link, and reports its progress. Resolves when nothing of the run is left. */
export function serve(input: Readable, output: Writable, backend: Backend): Promise<void> {
  return new FarEnd(input, output, backend).over;
}

/** The far end of a link: the run never outlives the link. */
class FarEnd {
  readonly over: Promise<void>;
  #end: () => void = () => {};
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #backend: Backend;
  readonly #credentials = new ReceivedCredentials();
  readonly #questions = new Map<number, (reply: Reply) => void>();
  /** Those who print while the link is full. */
  readonly #waiting: (() => void)[] = [];
  #run: Promise<Running> | undefined;
  #over = false;
  #silence: NodeJS.Timeout;

  constructor(input: Readable, output: Writable, backend: Backend) {
    this.#input = input;
    this.#output = output;
    this.#backend = backend;
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
    const frames = new FrameReader();
    const broken = () => void this.#finish();
    input.on("data", (chunk: Buffer) => {
      this.#silence.refresh();
      try {
        for (const { head, body } of frames.push(chunk)) this.#hear(readToFar(head), body);
      } catch (error) {
        void this.#finish(error);
      }
    });
    for (const event of ["end", "close", "error"]) input.on(event, broken);
    output.on("error", broken);
    output.on("drain", () => this.#goOn());
    this.#silence = setTimeout(broken, SILENCE);
    this.#send({ type: "hello", protocol: REMOTE_PROTOCOL, version: PACKAGE_VERSION });
  }

  #hear(message: ToFar, body: Buffer): void {
    if (this.#over) return;
    switch (message.type) {
      case "credential":
        this.#credentials.receive(message.relative, body);
        break;
      case "start":
        if (this.#run) throw new Error("a second order");
        this.#run = this.#start(message);
        break;
      case "stdin":
        this.#tell((run) => run.write(body));
        break;
      case "close-stdin":
        this.#tell((run) => run.closeInput());
        break;
      case "resize":
        this.#tell((run) => run.resize(message.columns, message.rows));
        break;
      case "signal":
        this.#tell((run) => run.signal(message.name));
        break;
      case "kill":
        this.#tell((run) => void run.kill());
        break;
      case "answer": {
        const { id, type: _, ...reply } = message;
        this.#questions.get(id)?.(reply);
        this.#questions.delete(id);
        break;
      }
      case "alive":
        break;
    }
  }

  /** Messages that arrive during the start are delivered in order after it. */
  #tell(what: (run: Running) => void): void {
    if (!this.#run) throw new Error("there is no run yet");
    this.#run.then(what).catch((error) => this.#finish(error));
  }

  async #start({ order: sent, home, surroundings }: Start): Promise<Running> {
    try {
      const order = home === "theirs" ? { ...sent, deed: { ...sent.deed, home: homedir() } } : sent;
      for (const folder of [order.deed.workspace, order.cwd]) mustBeFolder(folder);
      const around: HostProtections = surroundings ? probeHost(surroundings) : { inForce: [], missing: [] };
      const running = await this.#backend.start(await this.#credentials.placed(order), this.#events());
      this.#send({ type: "started", pid: running.pid });
      running.result.then(
        (result) => {
          const inForce = [...around.inForce, ...result.inForce];
          const missing = [...around.missing, ...result.missing];
          this.#send({ type: "result", result: { ...result, inForce, missing } } as ToNear);
          void this.#finish();
        },
        (error) => this.#finish(error),
      );
      return running;
    } catch (error) {
      void this.#finish(error);
      throw error;
    }
  }

  #events(): RunEvents {
    return {
      output: (stream, bytes) => this.#sendBytes(stream, bytes),
      question: (question, answer) => {
        this.#questions.set(question.id, answer);
        this.#send({ type: "question", question } as ToNear);
      },
      withdrawn: (id, why) => {
        this.#questions.delete(id);
        this.#send({ type: "withdrawn", id, why });
      },
      problem: (text) => void this.#send({ type: "problem", text }),
    };
  }

  /** Backpressure: waits for a slow link, so that output does not pile up here. */
  async #sendBytes(type: "stdout" | "stderr", bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; at += MAX_BODY)
      if (!this.#send({ type }, bytes.subarray(at, at + MAX_BODY)) && !this.#over)
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #goOn(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #send(message: ToNear, body?: Buffer): boolean {
    return this.#output.destroyed || this.#output.writableEnded || this.#output.write(encode(message, body));
  }

  async #endRun(): Promise<void> {
    try {
      await (await this.#run)?.kill();
      await this.#backend.close();
    } catch {
      // The program never ran.
    }
  }

  /** Runs once: ends the run, removes the received files, and reports the reason if the near end still listens. */
  async #finish(error?: unknown): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#silence);
    this.#goOn();
    await Promise.race([this.#endRun(), new Promise((resolve) => setTimeout(resolve, FOR_END))]);
    await this.#credentials.remove().catch(() => {});
    if (error !== undefined) {
      const { message } = error as Error;
      const code = error instanceof HermesError ? error.code : "LINK";
      this.#send({ type: "failed", code, message });
    }
    this.#output.end(() => this.#end());
    this.#output.once("close", () => this.#end());
    this.#input.destroy();
    setTimeout(() => this.#end(), FOR_LAST_WORDS);
  }
}

function mustBeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new HermesError("BACKEND", { where: hostname(), message: `the folder ${path} does not exist there` });
}
