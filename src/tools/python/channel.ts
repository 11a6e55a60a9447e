import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";

/** Calls of one script, whatever comes of them. */
export const MAX_CALLS = 50;
/** Bytes of one message: as much as a file that a tool writes may need. */
export const MAX_MESSAGE = 4 << 20;
/** A script that goes on asking after it was told that there is no more is not listened to for ever. */
const MAX_REFUSED = 50;
const MAX_STRANGERS = 8;

export interface Asked {
  readonly tool: string;
  readonly input: unknown;
}

export type Answer = { readonly output: object } | { readonly error: string; readonly rule?: string };

/**
 * The private way from one script to the host: a socket in the run's own folder that takes one connection, of whoever has
 * the token, and is then gone. Lines of JSON, one call at a time: while a call runs, nothing more is read, so that no flood
 * gets in.
 */
export class Channel {
  readonly token = randomBytes(32).toString("hex");
  readonly path: string;
  readonly #server: Server;
  readonly #answer: (asked: Asked) => Promise<Answer>;
  readonly #strangers = new Set<Socket>();
  #script: Socket | undefined;
  #calls = 0;
  #refused = 0;
  #busy: Promise<void> = Promise.resolve();

  private constructor(path: string, answer: (asked: Asked) => Promise<Answer>) {
    this.path = path;
    this.#answer = answer;
    this.#server = createServer((socket) => this.#arrived(socket));
  }

  static async open(path: string, answer: (asked: Asked) => Promise<Answer>): Promise<Channel> {
    const channel = new Channel(path, answer);
    await new Promise<void>((resolve, reject) => {
      channel.#server.once("error", reject);
      channel.#server.listen(path, resolve);
    });
    return channel;
  }

  /** How many calls were made; one that was one too many is not counted. */
  get calls(): number {
    return this.#calls;
  }

  /** Nothing is taken any more; resolves when the last call has come to its end. */
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
      send(socket, { error: "this is no call: the channel is closed", rule: "channel" });
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
      .catch((error: Error): Answer => ({ error: error.message }))
      .then((answer) => {
        send(socket, answer);
        socket.resume();
      });
    return true;
  }
}

/** Cuts a stream into lines, and ends it at one that is too long or not taken. */
class Lines {
  limit: number;
  /** False: enough of this one. */
  take: (line: string) => boolean;
  #pending = Buffer.alloc(0);
  #over = false;

  constructor(limit: number, take: (line: string) => boolean) {
    this.limit = limit;
    this.take = take;
  }

  read(socket: Socket): void {
    socket.on("data", (bytes: Buffer) => this.#add(bytes, socket));
    // While a call was answered, what had arrived with it waited here.
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
    // What was said last is still delivered; what comes now is not looked at.
    socket.destroySoon();
    this.#pending = Buffer.alloc(0);
  }
}

function tooLong(socket: Socket): false {
  send(socket, { error: "the message is too long: the channel is closed", rule: "channel" });
  return false;
}

function parsed(line: string): Asked | undefined {
  try {
    const { tool, input } = JSON.parse(line) as Partial<Asked>;
    return typeof tool === "string" ? { tool, input } : undefined;
  } catch {
    return undefined;
  }
}

function send(socket: Socket, answer: Answer): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(answer)}\n`);
}

function isSame(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
