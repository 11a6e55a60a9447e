import { closeSync, constants, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { HermesError } from "../../nouns/errors.js";
import type { ChainEnd } from "../store/store.js";

const SEQ_DIGITS = 16;

/**
 * How far a chain had come, beside the database: so that it is noticed when its last records are cut off. Written after
 * a record is; it may lag behind the chain after a crash, and is never ahead of it.
 *
 * One line of fixed length, written over itself: however a process ends, there is the old line or the new one.
 */
export class Head {
  readonly #file: string;
  readonly #chain: string;
  #fd: number | undefined;
  #seq = 0;

  private constructor(file: string, chain: string) {
    this.#file = file;
    this.#chain = chain;
  }

  static open(beside: string, chain: string): Head {
    return new Head(`${beside}.head`, chain);
  }

  read(): ChainEnd | undefined {
    const head = readHead(this.#file);
    return head?.chain === this.#chain ? head : undefined;
  }

  advance({ seq, hash }: Omit<ChainEnd, "chain">): void {
    if (seq <= this.#seq) return;
    try {
      this.#fd ??= openSync(this.#file, constants.O_RDWR | constants.O_CREAT, 0o600);
      this.#seq = seq;
      // Another process may have come farther.
      if (seqIn(this.#fd) < seq) writeSync(this.#fd, line({ chain: this.#chain, seq, hash }), 0);
    } catch (cause) {
      throw new HermesError("AUDIT", { message: `${this.#file}: ${(cause as Error).message}` }, { cause });
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

function seqIn(fd: number): number {
  const bytes = Buffer.alloc(SEQ_DIGITS);
  const read = readSync(fd, bytes, 0, SEQ_DIGITS, 0);
  return read === SEQ_DIGITS ? Number(bytes.toString("latin1")) || 0 : 0;
}

function line({ seq, hash, chain }: ChainEnd): string {
  return `${String(seq).padStart(SEQ_DIGITS, "0")} ${hash} ${chain}\n`;
}

/** What a head file says; undefined when there is none. */
export function readHead(file: string): ChainEnd | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new HermesError("AUDIT", { message: `${file}: ${(cause as Error).message}` }, { cause });
  }
  // Made, and not yet written to.
  if (text === "") return undefined;
  const match = /^(\d{16}) ([0-9a-f]{64}) (\S+)\n$/.exec(text);
  if (!match)
    throw new HermesError("AUDIT", { message: `${file} is damaged: it does not say how far the chain was` });
  return { seq: Number(match[1]), hash: match[2]!, chain: match[3]! };
}
