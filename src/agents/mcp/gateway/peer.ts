import { StringDecoder } from "node:string_decoder";

export type Json = Readonly<Record<string, unknown>>;
type Id = string | number;

/** A JSON-RPC error response. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const METHOD_NOT_FOUND = -32601;
export const REFUSED = -32000;

export interface RpcHandlers {
  request(method: string, params: Json, signal: AbortSignal): Promise<unknown>;
  notification(method: string, params: Json): void;
  problem?(text: string): void;
}

/** Larger than any legitimate message. */
const LONGEST = 16 * 1024 * 1024;

/**
 * One end of a line-based JSON-RPC connection: both sides may send requests. It numbers its requests itself, so ids of two
 * connections never mix.
 */
export class RpcPeer {
  readonly #send: (line: string) => void;
  readonly #handlers: RpcHandlers;
  readonly #decoder = new StringDecoder("utf8");
  readonly #asked = new Map<Id, { resolve(value: unknown): void; reject(error: Error): void }>();
  readonly #answering = new Map<Id, AbortController>();
  #held = "";
  #next = 1;
  #closed: Error | undefined;

  constructor(send: (line: string) => void, handlers: RpcHandlers) {
    this.#send = send;
    this.#handlers = handlers;
  }

  receive(bytes: Buffer): void {
    this.#held += this.#decoder.write(bytes);
    const lines = this.#held.split("\n");
    this.#held = lines.pop()!;
    for (const line of lines) if (line.trim() !== "") this.#take(line);
    if (this.#held.length <= LONGEST) return;
    this.#held = "";
    this.close(new Error("a message is too long"));
  }

  /** Aborting also cancels the request on the other side. */
  request(method: string, params: Json, signal?: AbortSignal): Promise<unknown> {
    if (this.#closed) return Promise.reject(this.#closed);
    const id = this.#next++;
    const answer = new Promise<unknown>((resolve, reject) => this.#asked.set(id, { resolve, reject }));
    const abort = () => {
      this.notify("notifications/cancelled", { requestId: id, reason: "cancelled by the client" });
      this.#settle(id, ({ reject }) => reject(new RpcError(REFUSED, "cancelled")));
    };
    this.#write({ jsonrpc: "2.0", id, method, params });
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    return answer.finally(() => signal?.removeEventListener("abort", abort));
  }

  notify(method: string, params: Json = {}): void {
    this.#write({ jsonrpc: "2.0", method, params });
  }

  /** Rejects all open requests. */
  close(why: Error): void {
    this.#closed ??= why;
    for (const { reject } of this.#asked.values()) reject(why);
    this.#asked.clear();
    for (const controller of this.#answering.values()) controller.abort(why);
  }

  #write(message: Json): void {
    if (!this.#closed) this.#send(`${JSON.stringify(message)}\n`);
  }

  #settle(
    id: Id,
    act: (waiting: { resolve(value: unknown): void; reject(error: Error): void }) => void,
  ): void {
    const waiting = this.#asked.get(id);
    this.#asked.delete(id);
    if (waiting) act(waiting);
  }

  #take(line: string): void {
    try {
      const message: unknown = JSON.parse(line);
      for (const one of Array.isArray(message) ? message : [message]) this.#handle(one as Json);
    } catch {
      this.#handlers.problem?.(`not a JSON-RPC message: ${line.slice(0, 200)}`);
    }
  }

  #handle({ id, method, params, result, error }: Json): void {
    const given = typeof params === "object" && params !== null ? (params as Json) : {};
    if (typeof method === "string" && isId(id)) return void this.#answer(id, method, given);
    if (method === "notifications/cancelled" && isId(given.requestId))
      this.#answering.get(given.requestId)?.abort(new Error("cancelled"));
    else if (typeof method === "string") this.#handlers.notification(method, given);
    else if (isId(id)) this.#answered(id, result, error);
  }

  #answered(id: Id, result: unknown, error: unknown): void {
    const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
    this.#settle(id, ({ resolve, reject }) =>
      error === undefined
        ? resolve(result)
        : reject(new RpcError(typeof code === "number" ? code : REFUSED, String(message ?? "failed"))),
    );
  }

  async #answer(id: Id, method: string, params: Json): Promise<void> {
    const controller = new AbortController();
    this.#answering.set(id, controller);
    try {
      const result = await this.#handlers.request(method, params, controller.signal);
      if (!controller.signal.aborted) this.#write({ jsonrpc: "2.0", id, result });
    } catch (error) {
      const code = error instanceof RpcError ? error.code : REFUSED;
      if (!controller.signal.aborted)
        this.#write({ jsonrpc: "2.0", id, error: { code, message: (error as Error).message } });
    } finally {
      this.#answering.delete(id);
    }
  }
}

function isId(id: unknown): id is Id {
  return typeof id === "string" || typeof id === "number";
}
