/** Larger than the kernel's limit for arguments and environment, with room for a configuration. */
export const MAX_HEAD = 8 * 1024 * 1024;
export const MAX_BODY = 1024 * 1024;

const PREFIX = 8;
const NOTHING = Buffer.alloc(0);

interface WireFrame {
  /** JSON. */
  readonly head: unknown;
  readonly body: Buffer;
}

/** Two lengths (32 bits each, big-endian), a JSON header, a binary body. */
export function encode(head: object, body: Uint8Array = NOTHING): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const prefix = Buffer.alloc(PREFIX);
  prefix.writeUInt32BE(json.length, 0);
  prefix.writeUInt32BE(body.length, 4);
  return Buffer.concat([prefix, json, body]);
}

/** Splits a stream into frames. Throws at the first invalid frame: nothing after it can be trusted. */
export class FrameReader {
  #parts: Buffer[] = [];
  #size = 0;
  #needed = PREFIX;

  *push(chunk: Buffer): Iterable<WireFrame> {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    while (this.#size >= this.#needed) {
      const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
      this.#parts = [bytes];
      const [head, body] = lengths(bytes);
      this.#needed = PREFIX + head + body;
      if (bytes.length < this.#needed) return;
      yield {
        head: parsed(bytes.subarray(PREFIX, PREFIX + head)),
        body: bytes.subarray(PREFIX + head, this.#needed),
      };
      const rest = bytes.subarray(this.#needed);
      this.#parts = rest.length > 0 ? [rest] : [];
      this.#size = rest.length;
      this.#needed = PREFIX;
    }
  }
}

function lengths(bytes: Buffer): [head: number, body: number] {
  const [head, body] = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)];
  if (head > MAX_HEAD || body > MAX_BODY) throw new Error(`a frame of ${head} + ${body} bytes`);
  return [head, body];
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw new Error("a frame whose head is not JSON", { cause });
  }
}
