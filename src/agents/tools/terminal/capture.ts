/**
 * Keeps the beginning and the end of output that is too long. Counts bytes of UTF-8, never splits a character, and marks
 * the gap.
 */
export class Capture {
  readonly #limit: number;
  readonly #headSize: number;
  readonly #tailSize: number;
  #head: Buffer = Buffer.alloc(0);
  #tail: Buffer = Buffer.alloc(0);
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#headSize = limit >> 1;
    this.#tailSize = limit - this.#headSize;
  }

  add(bytes: Uint8Array): void {
    this.#total += bytes.length;
    const room = this.#headSize - this.#head.length;
    const rest = room > 0 ? bytes.subarray(room) : bytes;
    if (room > 0) this.#head = Buffer.concat([this.#head, bytes.subarray(0, room)]);
    if (rest.length > 0)
      this.#tail = last(Buffer.concat([this.#tail, last(rest, this.#tailSize)]), this.#tailSize);
  }

  /** The output was longer than the limit. */
  get truncated(): boolean {
    return this.#total > this.#limit;
  }

  /** Never more bytes than the limit, including the note. */
  text(): string {
    if (!this.truncated) {
      const whole = Buffer.concat([this.#head, this.#tail]).toString("utf8");
      return Buffer.byteLength(whole) <= this.#limit ? whole : shorten(whole, whole, this.#limit, 0);
    }
    return shorten(
      withoutBrokenEnd(this.#head).toString("utf8"),
      withoutBrokenStart(this.#tail).toString("utf8"),
      this.#limit,
      this.#total,
    );
  }
}

/** As much of the start of one text and the end of another as fits, with a note between them. */
function shorten(start: string, end: string, limit: number, total: number): string {
  const note = total > 0 ? `\n[… ${total} bytes in all, the middle is left out …]\n` : "\n[…]\n";
  const room = limit - Buffer.byteLength(note);
  if (room <= 0) return note.slice(0, limit);
  return (
    fitting(start, room >> 1) +
    note +
    [...fitting([...end].reverse().join(""), room - (room >> 1))].reverse().join("")
  );
}

/** The longest prefix of at most this many bytes. */
function fitting(text: string, bytes: number): string {
  let used = 0;
  let length = 0;
  for (const character of text) {
    used += Buffer.byteLength(character);
    if (used > bytes) break;
    length += character.length;
  }
  return text.slice(0, length);
}

function last(bytes: Uint8Array, count: number): Buffer {
  return Buffer.from(bytes.subarray(Math.max(0, bytes.length - count)));
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** Drops an incomplete character at the end. */
function withoutBrokenEnd(bytes: Buffer): Buffer {
  let at = bytes.length - 1;
  while (at >= 0 && bytes.length - at < 4 && isContinuation(bytes[at])) at--;
  const lead = bytes[at] ?? 0;
  const wanted = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return wanted > bytes.length - at ? bytes.subarray(0, at) : bytes;
}

/** Drops an incomplete character at the start. */
function withoutBrokenStart(bytes: Buffer): Buffer {
  let at = 0;
  while (at < 3 && isContinuation(bytes[at])) at++;
  return bytes.subarray(at);
}
