import { constants, gzipSync } from "node:zlib";
import { BlockEncoder } from "./codec.js";
import { MAGIC, packBlock } from "./container.js";

/** `lines`: JSON lines. `gzip`: the same, compressed; zcat reads it. `binary`: for long runs (docs/reference/trace-format.md). */
export const FORMS = ["lines", "gzip", "binary"] as const;
export type Form = (typeof FORMS)[number];

/** What the name of a trace says about its form. */
export function formOf(file: string): Form {
  if (file.endsWith(".htrace")) return "binary";
  return file.endsWith(".gz") ? "gzip" : "lines";
}

/** Makes bytes of records, block by block. One encoder serves one file. */
export interface Encoder {
  add(record: object): void;
  /** How much waits to be taken: bytes, or nearly. */
  readonly waiting: number;
  /** The file's next bytes. */
  take(): Buffer;
  /** Its last ones. */
  finish(): Buffer;
}

/** Blocks of a compressed form are larger: a compressor needs something to find repetitions in. */
export const BLOCK_SIZE: Record<Form, number> = { lines: 64 << 10, gzip: 256 << 10, binary: 256 << 10 };

export function encoderFor(form: Form): Encoder {
  if (form === "binary") return new BinaryEncoder();
  return new LinesEncoder(form === "gzip");
}

class LinesEncoder implements Encoder {
  readonly #compressed: boolean;
  #text = "";

  constructor(compressed: boolean) {
    this.#compressed = compressed;
  }

  get waiting(): number {
    return this.#text.length;
  }

  add(record: object): void {
    this.#text += `${JSON.stringify(record)}\n`;
  }

  /** Each block is a gzip member of its own: what was written before a crash can be read. */
  take(): Buffer {
    const bytes = Buffer.from(this.#text);
    this.#text = "";
    return this.#compressed && bytes.length > 0 ? gzipSync(bytes, { level: constants.Z_BEST_SPEED }) : bytes;
  }

  finish(): Buffer {
    return this.take();
  }
}

class BinaryEncoder implements Encoder {
  readonly #block = new BlockEncoder();
  #begun = false;

  get waiting(): number {
    return this.#block.length;
  }

  add(record: object): void {
    this.#block.add(record);
  }

  take(): Buffer {
    const start = this.#begun ? [] : [MAGIC];
    this.#begun = true;
    return Buffer.concat([...start, ...(this.#block.records === 0 ? [] : packBlock(this.#block))]);
  }

  finish(): Buffer {
    return this.take();
  }
}
