import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";

export interface FeedEvent {
  readonly kind: string;
  readonly data: unknown;
}

const KEPT = 1000;
const CLIENTS = 64;
/** A page that does not read so much is cut off; when it comes back, it gets everything anew. */
const BEHIND = 4 << 20;
const HEARTBEAT_MS = 10_000;
/** Then a page comes back, and must still be logged in. */
const LONGEST_MS = 15 * 60_000;

/**
 * What happens, to every page that is open, as server-sent events. Every event has a number: a page that comes back says
 * which it saw last, and gets what it missed, or, when that is not kept any more, the present state.
 */
export class Feed {
  /** Numbers of another server's life mean nothing here. */
  readonly #life = randomBytes(6).toString("hex");
  readonly #kept: { readonly n: number; readonly text: string }[] = [];
  readonly #clients = new Set<ServerResponse>();
  readonly #heart: NodeJS.Timeout;
  #last = 0;

  constructor() {
    this.#heart = setInterval(() => this.#send(": still here\n\n"), HEARTBEAT_MS);
    this.#heart.unref();
  }

  get clients(): number {
    return this.#clients.size;
  }

  publish(kind: string, data: unknown): void {
    const n = ++this.#last;
    const text = this.#written(kind, data);
    this.#kept.push({ n, text });
    if (this.#kept.length > KEPT) this.#kept.shift();
    this.#send(text);
  }

  /** What a page that was away need not hear of: it looks for itself. */
  mention(kind: string, data: unknown): void {
    this.#send(this.#written(kind, data));
  }

  /** `now`: the present state, for pages that missed too much. False: there are too many pages already. */
  attach(response: ServerResponse, seen: string | undefined, now: () => readonly FeedEvent[]): boolean {
    if (this.#clients.size >= CLIENTS) return false;
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    this.#clients.add(response);
    const over = setTimeout(() => response.end(), LONGEST_MS).unref();
    response.on("close", () => {
      clearTimeout(over);
      this.#clients.delete(response);
    });
    const missed = this.#missed(seen);
    response.write(missed ?? [...now()].map(({ kind, data }) => this.#written(kind, data)).join(""));
    return true;
  }

  close(): void {
    clearInterval(this.#heart);
    for (const client of this.#clients) client.destroy();
  }

  #missed(seen: string | undefined): string | undefined {
    const [life, number] = seen?.split("-") ?? [];
    const n = Number(number);
    if (life !== this.#life || !(n <= this.#last) || n < this.#last - this.#kept.length) return undefined;
    // Something is sent in any case: a page waits for the first event to know that it is connected.
    return [...this.#kept.filter((one) => one.n > n).map((one) => one.text), ": up to date\n\n"].join("");
  }

  #written(kind: string, data: unknown): string {
    return `id: ${this.#life}-${this.#last}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
  }

  #send(text: string): void {
    for (const client of this.#clients) {
      if (client.writableLength > BEHIND) client.destroy();
      else client.write(text);
    }
  }
}
