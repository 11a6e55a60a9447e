import type { FileHandle } from "node:fs/promises";

/** Bytes in order. */
export interface TraceSource {
  /** So many bytes, or as many as there are left. */
  take(length: number): Promise<Buffer>;
  skip(length: number): Promise<void>;
}

/** A file that was opened. What is no plain file (a pipe, a terminal) cannot be skipped in, only read. */
export class FileSource implements TraceSource {
  readonly #file: FileHandle;
  readonly #seekable: boolean;
  #position = 0;

  constructor(file: FileHandle, seekable: boolean) {
    this.#file = file;
    this.#seekable = seekable;
  }

  async take(length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    let got = 0;
    while (got < length) {
      const position = this.#seekable ? this.#position : null;
      const { bytesRead } = await this.#file.read(bytes, got, length - got, position);
      if (bytesRead === 0) break;
      got += bytesRead;
      this.#position += bytesRead;
    }
    return bytes.subarray(0, got);
  }

  async skip(length: number): Promise<void> {
    if (this.#seekable) this.#position += length;
    else await discard(this, length);
  }
}

const CHUNK = 1 << 20;

/** Everything that is left, in pieces. */
export async function* chunks(source: TraceSource): AsyncGenerator<Buffer> {
  for (let bytes = await source.take(CHUNK); bytes.length > 0; bytes = await source.take(CHUNK)) yield bytes;
}

/** Pieces that come from elsewhere: what a decompressor puts out, or bytes that were looked at already. */
export class StreamSource implements TraceSource {
  readonly #pieces: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  async take(length: number): Promise<Buffer> {
    const parts = [this.#rest];
    let got = this.#rest.length;
    while (got < length) {
      const { value, done } = await this.#pieces.next();
      if (done) break;
      parts.push(value);
      got += value.length;
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts);
    this.#rest = all.subarray(length);
    return all.subarray(0, length);
  }

  async skip(length: number): Promise<void> {
    await discard(this, length);
  }
}

async function discard(source: TraceSource, length: number): Promise<void> {
  for (let left = length; left > 0; ) {
    const got = (await source.take(Math.min(left, CHUNK))).length;
    if (got === 0) return;
    left -= got;
  }
}

/** The same bytes, from the first one on, although some were taken. */
export function putBack(taken: Buffer, source: TraceSource): TraceSource {
  let first: Buffer | undefined = taken;
  const rest = async (length: number): Promise<Buffer> => {
    if (!first) return source.take(length);
    const head = first.subarray(0, length);
    first = head.length < first.length ? first.subarray(length) : undefined;
    return head.length < length ? Buffer.concat([head, await source.take(length - head.length)]) : head;
  };
  const skip = async (length: number): Promise<void> => {
    if (first) await discard({ take: rest, skip }, length);
    else await source.skip(length);
  };
  return { take: rest, skip };
}
