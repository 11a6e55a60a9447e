import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";

/** Maximum number of calls of one script, successful or not. */
export const MAX_CALLS = 50;
/** Bytes of one message: enough for a file that a tool writes. */
const MAX_MESSAGE = 4 << 20;
/** A script that keeps asking after it was refused is cut off after this many calls. */
const MAX_REFUSED = 50;
const MAX_STRANGERS = 8;

export interface RpcCall {
  readonly tool: string;
  readonly input: unknown;
}

export type RpcReply = { readonly output: object } | { readonly error: string; readonly rule?: string };

/**
 * The private channel from one script to the host: a socket in the run's own folder. It accepts one connection with the
 * right token and then closes. Messages are lines of JSON, one call at a time: nothing is read while a call runs, so a
 * script cannot flood the host.
 */
export class RpcChannel {
  readonly token = randomBytes(32).toString("hex");
  readonly path: string;
  readonly #server: Server;
  readonly #answer: (asked: RpcCall) => Promise<RpcReply>;
  readonly #strangers = new Set<Socket>();
  #script: Socket | undefined;
  #calls = 0;
  #refused = 0;
  #busy: Promise<void> = Promise.resolve();

  private constructor(path: string, answer: (asked: RpcCall) => Promise<RpcReply>) {
    this.path = path;
    this.#answer = answer;
    this.#server = createServer((socket) => this.#arrived(socket));
  }

  static async open(path: string, answer: (asked: RpcCall) => Promise<RpcReply>): Promise<RpcChannel> {
    const channel = new RpcChannel(path, answer);
    await new Promise<void>((resolve, reject) => {
      channel.#server.once("error", reject);
      channel.#server.listen(path, resolve);
    });
    return channel;
  }

  /** How many calls were made, without the one that exceeded the limit. */
  get calls(): number {
    return this.#calls;
  }

  /** Takes no further calls; resolves when the last call has ended. */
  async close(): Promise<void> {
    this.#stopListening();
    this.#script?.destroy();
    await this.#busy;
  }

  #stopListening(): void {
    this.#server.close(() => {});
    for (const socket of this.#strangers) socket.destroy();
    this.#strangers.clear();
  }

  #arrived(socket: Socket): void {
    socket.on("error", () => {});
    if (this.#script || this.#strangers.size >= MAX_STRANGERS) {
      socket.destroy();
      return;
    }
    this.#strangers.add(socket);
    socket.once("close", () => this.#strangers.delete(socket));
    const lines = new Lines(this.token.length, (line) => {
      if (this.#script || !isSame(line, this.token)) return false;
      this.#strangers.delete(socket);
      this.#script = socket;
      this.#stopListening();
      send(socket, { output: {} });
      lines.limit = MAX_MESSAGE;
      lines.take = (text) => this.#asked(text, socket);
      return true;
    });
    lines.read(socket);
  }

  #asked(line: string, socket: Socket): boolean {
    const asked = parsed(line);
    if (!asked) {
      send(socket, { error: "not a valid call: the channel is closed", rule: "channel" });
      return false;
    }
    if (this.#calls >= MAX_CALLS) {
      const error = `a script makes at most ${MAX_CALLS} tool calls`;
      send(socket, { error, rule: "too-many-calls" });
      return ++this.#refused <= MAX_REFUSED;
    }
    this.#calls++;
    socket.pause();
    this.#busy = this.#answer(asked)
      .catch((error: Error): RpcReply => ({ error: error.message }))
      .then((answer) => {
        send(socket, answer);
        socket.resume();
      });
    return true;
  }
}

/** Splits a stream into lines. Closes it at a line that is too long or rejected. */
class Lines {
  limit: number;
  /** False: stop reading this stream. */
  take: (line: string) => boolean;
  #pending = Buffer.alloc(0);
  #over = false;

  constructor(limit: number, take: (line: string) => boolean) {
    this.limit = limit;
    this.take = take;
  }

  read(socket: Socket): void {
    socket.on("data", (bytes: Buffer) => this.#add(bytes, socket));
    // Data that arrived while a call was being answered.
    socket.on("resume", () => this.#add(Buffer.alloc(0), socket));
  }

  #add(bytes: Buffer, socket: Socket): void {
    this.#pending = Buffer.concat([this.#pending, bytes]);
    while (!socket.isPaused() && !this.#over) {
      const end = this.#pending.indexOf(10);
      if (end < 0 && this.#pending.length <= this.limit) return;
      const line = end < 0 ? this.#pending : this.#pending.subarray(0, end);
      this.#pending = this.#pending.subarray(line.length + 1);
      this.#over = !(line.length <= this.limit ? this.take(line.toString("utf8")) : tooLong(socket));
    }
    if (!this.#over) return;
    // The last message is still delivered; further input is ignored.
    socket.destroySoon();
    this.#pending = Buffer.alloc(0);
  }
}

function tooLong(socket: Socket): false {
  send(socket, { error: "the message is too long: the channel is closed", rule: "channel" });
  return false;
}

function parsed(line: string): RpcCall | undefined {
  try {
    const { tool, input } = JSON.parse(line) as Partial<RpcCall>;
    return typeof tool === "string" ? { tool, input } : undefined;
  } catch {
    return undefined;
  }
}

function send(socket: Socket, answer: RpcReply): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(answer)}\n`);
}

function isSame(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
