import { type FileHandle, open } from "node:fs/promises";
import { Readable } from "node:stream";
import { constants, createGunzip, type Gunzip } from "node:zlib";
import { HermesError } from "../../nouns/errors.js";
import { decodeBlock } from "./codec.js";
import { BLOCK_HEADER, type BlockHeader, MAGIC, readBlockHeader, unpackBlock } from "./container.js";
import { type CallRecord, type HeaderRecord, TRACE_VERSION, type TraceRecord } from "./records.js";
import { chunks, FileSource, putBack, StreamSource, type TraceSource } from "./source.js";

const MAX_LINE = 64 << 20;

/** From when to when, in seconds since 1970. */
interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** One file of a trace in any form: JSON lines or binary, compressed or not. `-` is stdin. */
export class TraceFile {
  readonly file: string;
  readonly #span: TimeSpan;
  /** Where and how it breaks off, if it does so inside a record. */
  cut: string | undefined;

  /** Blocks of a binary trace that have nothing of the span in them are skipped; other records are not looked at. */
  constructor(file: string, span: TimeSpan) {
    this.file = file;
    this.#span = span;
  }

  async *blocks(): AsyncGenerator<TraceRecord[]> {
    const handle = await openTrace(this.file);
    try {
      const info = await handle.stat();
      if (info.isDirectory()) throw broken(this.file, "it is a folder, not a trace");
      yield* this.#recognised(new FileSource(handle, info.isFile()));
    } catch (error) {
      throw (error as NodeJS.ErrnoException).syscall === "read" ? unreadable(this.file, error) : error;
    } finally {
      await handle.close();
    }
  }

  async *#recognised(source: TraceSource): AsyncGenerator<TraceRecord[]> {
    const start = await source.take(MAGIC.length);
    if (start.equals(MAGIC)) return yield* this.#binary(source);
    const whole = putBack(start, source);
    const decompress = decompressor(this.file, start);
    if (!decompress) return yield* this.#lines(whole);
    const bytes = Readable.from(chunks(whole)).on("error", (error) => decompress.destroy(error));
    try {
      yield* this.#recognised(new StreamSource(bytes.pipe(decompress)));
    } catch (error) {
      if (!String((error as NodeJS.ErrnoException).code).startsWith("Z_")) throw error;
      throw broken(this.file, `its compressed bytes are damaged: ${(error as Error).message}`, error);
    } finally {
      decompress.destroy();
    }
  }

  // ---------------------------------------------------------------- JSON lines

  async *#lines(source: TraceSource): AsyncGenerator<TraceRecord[]> {
    let number = 1;
    let rest: Buffer[] = [];
    let waiting = 0;
    for await (const chunk of chunks(source)) {
      const end = chunk.lastIndexOf(10) + 1;
      if (end > 0) {
        const lines = Buffer.concat([...rest, chunk.subarray(0, end)])
          .toString()
          .split("\n");
        lines.pop();
        const first = number;
        yield lines.flatMap((line, i) => parseLine(line, `${this.file}:${first + i}`));
        number += lines.length;
        rest = [];
        waiting = 0;
      }
      rest.push(chunk.subarray(end));
      waiting += chunk.length - end;
      if (waiting > MAX_LINE)
        throw broken(`${this.file}:${number}`, "this line is longer than 64 MiB; is it a trace?");
    }
    const last = Buffer.concat(rest).toString();
    if (last !== "") yield this.#lastLine(last, number);
  }

  /** The writer ends every line, so one without an end was cut; it may still be whole. */
  #lastLine(line: string, number: number): TraceRecord[] {
    const where = `${this.file}:${number}`;
    try {
      return parseLine(line, where);
    } catch (error) {
      if (number === 1) throw error;
      this.cut = `${where}: the trace breaks off inside this line`;
      return [];
    }
  }

  // ---------------------------------------------------------------- the binary form

  async *#binary(source: TraceSource): AsyncGenerator<TraceRecord[]> {
    for (let offset = MAGIC.length; ; ) {
      const head = await source.take(BLOCK_HEADER);
      const header = head.length === BLOCK_HEADER ? readBlockHeader(head) : undefined;
      if (!header) return this.#breaksOff(offset, head, source);
      if (header.kind === "index") return;
      const where = `${this.file}, block at byte ${offset}`;
      // The first block has the trace's header, which is of no time.
      if (offset === MAGIC.length || (header.to >= this.#span.from && header.from <= this.#span.to)) {
        const stored = await source.take(header.stored);
        if (stored.length < header.stored) {
          this.cut = `${where}: the trace breaks off inside this block`;
          return;
        }
        yield unpack(stored, header, where);
      } else await source.skip(header.stored);
      offset += BLOCK_HEADER + header.stored;
    }
  }

  /** After a crash a file may end early, or in zeros that were never written over. Anything else is damage. */
  async #breaksOff(offset: number, head: Buffer, source: TraceSource): Promise<void> {
    if (head.length === BLOCK_HEADER && !(isZero(head) && (await onlyZeros(source))))
      throw broken(this.file, `there is no block at byte ${offset}, where one should be: it is damaged`);
    if (head.length > 0) this.cut = `${this.file}, byte ${offset}: the trace breaks off here`;
  }
}

async function openTrace(file: string): Promise<FileHandle> {
  try {
    return await open(file === "-" ? "/dev/stdin" : file);
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function parseLine(line: string, where: string): TraceRecord[] {
  if (line.trim() === "") return [];
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw broken(where, "this line is not JSON; is it a trace?", cause);
  }
  return [checked(value, where)];
}

const isZero = (bytes: Buffer) => bytes.every((byte) => byte === 0);

async function onlyZeros(source: TraceSource): Promise<boolean> {
  for await (const chunk of chunks(source)) if (!isZero(chunk)) return false;
  return true;
}

function unpack(stored: Buffer, header: BlockHeader, where: string): TraceRecord[] {
  try {
    return decodeBlock(unpackBlock(stored, header)).map((record) => checked(record, where));
  } catch (cause) {
    if (cause instanceof HermesError) throw cause;
    throw broken(where, `it is damaged: ${(cause as Error).message}`, cause);
  }
}

/** A record that the rest can rely on. Fields that a person left out of a hand-made one get what they mean. */
function checked(value: unknown, where: string): TraceRecord {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw broken(where, "this is not a record; is it a trace?");
  const record = value as { hermes?: unknown; kind?: string };
  if (record.hermes === "trace") return checkedHeader(record, where);
  if (record.kind === "syscall" || record.kind === "function")
    return checkedCall(value as Record<string, unknown>, where);
  if (typeof record.kind !== "string") throw broken(where, "this record has no kind; is it a trace?");
  return value as TraceRecord;
}

function checkedHeader(record: { kind?: string; version?: number }, where: string): HeaderRecord {
  record.version ??= TRACE_VERSION;
  if (!(record.version <= TRACE_VERSION))
    throw broken(
      where,
      `this trace is of version ${record.version}; this HERMES reads up to ${TRACE_VERSION}`,
    );
  record.kind = "header";
  return record as HeaderRecord;
}

function checkedCall(record: Record<string, unknown>, where: string): CallRecord {
  if (typeof record.name !== "string") throw broken(where, "this call has no name");
  record.args ??= {};
  record.action ??= "allow";
  record.time ??= 0;
  record.tid ??= record.pid ?? 0;
  record.pid ??= record.tid;
  return record as unknown as CallRecord;
}

/** What undoes the compression that the first bytes show; a stream that ends early gives what it has. */
function decompressor(file: string, start: Buffer): Gunzip | undefined {
  if (start[0] === 0x1f && start[1] === 0x8b) return createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  if (start.length >= 4 && start.readUInt32LE(0) === 0xfd2fb528)
    throw broken(file, "it is compressed with zstd; pass it through `zstd -dc`");
  return undefined;
}

function broken(file: string, message: string, cause?: unknown): HermesError {
  return new HermesError("EVENTS", { file, message }, { cause });
}

function unreadable(file: string, cause: unknown): HermesError {
  return broken(file, `cannot be read: ${(cause as NodeJS.ErrnoException).code ?? cause}`, cause);
}
