import { asciiText } from "../../nouns/text.js";

/**
 * Records as bytes. Every value is a number whose low four bits say what it is; what repeats (texts, and which fields a
 * record has) is written once per block and named by its place from then on. A block needs no other to be read.
 */

const TAG = {
  natural: 0,
  negative: 1,
  /** A text that was met before in this block, by its place. */
  known: 2,
  /** A text: its length in bytes follows from the number, then the bytes. */
  text: 3,
  list: 4,
  /** An object, by the place of its list of fields. */
  object: 5,
  /** Millionths. */
  micro: 6,
  microNegative: 7,
  /** Millionths since the time before it in this block. */
  later: 8,
  earlier: 9,
  /** Eight bytes. */
  double: 10,
  /** null, true, false, undefined. */
  constant: 11,
} as const;

const CONSTANTS = [null, true, false, undefined] as const;
const TAG_BITS = 16;
/** Above this a number, shifted by its tag, is no longer exact. */
const MAX_NATURAL = 2 ** 49;
/** Longer texts hardly ever repeat, and would only fill the list of those that do. */
const MAX_REPEATED = 512;
/** The most that one character or one number takes. */
const WIDEST = 8;

/** The fields of a record, one step for each; `place` is that of the whole list, once it was written. */
interface Fields {
  place: number;
  readonly next: Map<string, Fields>;
}

const noFields = (): Fields => ({ place: -1, next: new Map() });

/** Takes records until its owner finds the block full enough. */
export class BlockEncoder {
  #bytes = Buffer.allocUnsafe(512 * 1024);
  #at = 0;
  #texts = new Map<string, number>();
  #fields = noFields();
  #shapes = 0;
  #time = 0;
  #records = 0;
  #from = Number.POSITIVE_INFINITY;
  #to = Number.NEGATIVE_INFINITY;

  get length(): number {
    return this.#at;
  }
  get records(): number {
    return this.#records;
  }
  /** The earliest and the latest time of a record in this block. */
  get from(): number {
    return this.#records === 0 || this.#from > this.#to ? 0 : this.#from;
  }
  get to(): number {
    return this.#records === 0 || this.#from > this.#to ? 0 : this.#to;
  }

  add(record: object): void {
    const { time } = record as { time?: number };
    if (time !== undefined) {
      if (time < this.#from) this.#from = time;
      if (time > this.#to) this.#to = time;
    }
    this.#object(record);
    this.#records++;
  }

  /** The block so far, valid until the next record; the encoder starts anew. */
  take(): Buffer {
    const block = this.#bytes.subarray(0, this.#at);
    this.#at = 0;
    this.#texts = new Map();
    this.#fields = noFields();
    this.#shapes = 0;
    this.#time = 0;
    this.#records = 0;
    this.#from = Number.POSITIVE_INFINITY;
    this.#to = Number.NEGATIVE_INFINITY;
    return block;
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const wider = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + bytes));
    this.#bytes.copy(wider, 0, 0, this.#at);
    this.#bytes = wider;
  }

  #tagged(tag: number, value: number): void {
    this.#room(WIDEST + 1);
    const bytes = this.#bytes;
    let rest = value * TAG_BITS + tag;
    while (rest >= 0x8000_0000) {
      bytes[this.#at++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 0x80) {
      bytes[this.#at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[this.#at++] = rest;
  }

  #value(value: unknown): void {
    if (typeof value === "string") this.#text(value);
    else if (typeof value === "number") this.#number(value);
    else if (Array.isArray(value)) this.#list(value);
    else if (typeof value === "object" && value !== null) this.#object(value);
    else this.#tagged(TAG.constant, Math.max(0, CONSTANTS.indexOf(value as null)));
  }

  #list(values: readonly unknown[]): void {
    this.#tagged(TAG.list, values.length);
    for (const value of values) this.#value(value);
  }

  #object(object: object): void {
    let fields = this.#fields;
    for (const key in object) {
      let next = fields.next.get(key);
      if (!next) {
        next = noFields();
        fields.next.set(key, next);
      }
      fields = next;
    }
    if (fields.place >= 0) this.#tagged(TAG.object, fields.place);
    else this.#describe(fields, object);
    for (const key in object) {
      const value = (object as Record<string, unknown>)[key];
      if (key === "time" && typeof value === "number") this.#moment(value);
      else this.#value(value);
    }
  }

  #describe(fields: Fields, object: object): void {
    fields.place = this.#shapes++;
    this.#tagged(TAG.object, fields.place);
    const keys = Object.keys(object);
    this.#tagged(TAG.list, keys.length);
    for (const key of keys) this.#text(key);
  }

  #text(text: string): void {
    const place = this.#texts.get(text);
    if (place !== undefined) {
      this.#tagged(TAG.known, place);
      return;
    }
    if (text.length <= MAX_REPEATED) this.#texts.set(text, this.#texts.size);
    const length = byteLength(text);
    this.#tagged(TAG.text, length);
    this.#room(length);
    if (length === text.length) writeAscii(this.#bytes, this.#at, text);
    else writeWide(this.#bytes, this.#at, text);
    this.#at += length;
  }

  #number(value: number): void {
    if (fits(value)) {
      this.#signed(TAG.natural, TAG.negative, value);
      return;
    }
    const micro = Math.round(value * 1e6);
    if (micro / 1e6 === value && fits(micro)) this.#signed(TAG.micro, TAG.microNegative, micro);
    else this.#double(value);
  }

  #signed(natural: number, negative: number, value: number): void {
    if (value < 0) this.#tagged(negative, -value);
    else this.#tagged(natural, value);
  }

  #double(value: number): void {
    this.#tagged(TAG.double, 0);
    this.#room(WIDEST);
    this.#bytes.writeDoubleLE(value, this.#at);
    this.#at += WIDEST;
  }

  /** Times follow each other closely: the difference is short. */
  #moment(time: number): void {
    const micro = Math.round(time * 1e6);
    if (micro / 1e6 === time && fits(micro - this.#time)) {
      this.#signed(TAG.later, TAG.earlier, micro - this.#time);
      this.#time = micro;
    } else this.#double(time);
  }
}

function fits(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < MAX_NATURAL && !Object.is(value, -0);
}

/**
 * Texts are UTF-8, but for lone surrogates, which encode bytes that are not UTF-8 (text.ts): those keep their three
 * bytes. Most texts are short and ASCII: a loop is faster than a call that leaves JavaScript.
 */
function byteLength(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    length += code < 0x800 ? 1 : 2;
    // A pair of surrogates takes four bytes together.
    if (isPair(text, i)) i++;
  }
  return length;
}

function isPair(text: string, i: number): boolean {
  return (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
}

function writeAscii(bytes: Buffer, at: number, text: string): void {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
}

function writeWide(bytes: Buffer, from: number, text: string): void {
  let at = from;
  for (let i = 0; i < text.length; i++) {
    const code = isPair(text, i) ? text.codePointAt(i)! : text.charCodeAt(i);
    if (code < 0x80) {
      bytes[at++] = code;
      continue;
    }
    if (code >= 0x10000) {
      i++;
      bytes[at++] = 0xf0 | (code >> 18);
      bytes[at++] = 0x80 | ((code >> 12) & 0x3f);
    } else if (code >= 0x800) bytes[at++] = 0xe0 | (code >> 12);
    bytes[at++] = code < 0x800 ? 0xc0 | (code >> 6) : 0x80 | ((code >> 6) & 0x3f);
    bytes[at++] = 0x80 | (code & 0x3f);
  }
}

/** The records of one block. Throws a RangeError when the bytes are not such a block. */
export function decodeBlock(block: Buffer): object[] {
  return new BlockDecoder(block).records();
}

class BlockDecoder {
  readonly #bytes: Buffer;
  #at = 0;
  #tag = 0;
  readonly #texts: string[] = [];
  readonly #shapes: (readonly string[])[] = [];
  #time = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  records(): object[] {
    const records: object[] = [];
    while (this.#at < this.#bytes.length) records.push(this.#value() as object);
    return records;
  }

  #number(): number {
    const bytes = this.#bytes;
    let byte = bytes[this.#at++]!;
    this.#tag = byte & 15;
    let value = (byte & 0x7f) >> 4;
    for (let scale = 8; byte >= 0x80; scale *= 128) {
      if (this.#at >= bytes.length) throw new RangeError("it ends inside a number");
      byte = bytes[this.#at++]!;
      value += (byte & 0x7f) * scale;
    }
    return value;
  }

  #value(): unknown {
    const number = this.#number();
    switch (this.#tag) {
      case TAG.natural:
        return number;
      case TAG.negative:
        return -number;
      case TAG.known:
        return this.#known(number);
      case TAG.text:
        return this.#text(number);
      case TAG.list:
        return this.#list(number);
      case TAG.object:
        return this.#object(number);
      case TAG.micro:
        return number / 1e6;
      case TAG.microNegative:
        return -number / 1e6;
      case TAG.later:
        return this.#moment(number);
      case TAG.earlier:
        return this.#moment(-number);
      case TAG.double:
        this.#at += WIDEST;
        return this.#bytes.readDoubleLE(this.#at - WIDEST);
      case TAG.constant:
        return CONSTANTS[number];
      default:
        throw new RangeError(`unknown tag ${this.#tag}`);
    }
  }

  #moment(since: number): number {
    this.#time += since;
    return this.#time / 1e6;
  }

  #known(place: number): string {
    const text = this.#texts[place];
    if (text === undefined) throw new RangeError("it names a text that it does not have");
    return text;
  }

  #text(length: number): string {
    const from = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new RangeError("it ends inside a text");
    const text = decode(this.#bytes, from, this.#at);
    if (text.length <= MAX_REPEATED) this.#texts.push(text);
    return text;
  }

  #list(length: number): unknown[] {
    if (length > this.#bytes.length) throw new RangeError("a list is longer than the block");
    const list: unknown[] = [];
    for (let i = 0; i < length; i++) list.push(this.#value());
    return list;
  }

  #fields(): string[] {
    const fields = this.#value();
    if (!Array.isArray(fields) || !fields.every((field) => typeof field === "string"))
      throw new RangeError("it has no fields where they should be");
    return fields;
  }

  #object(shape: number): object {
    if (shape > this.#shapes.length) throw new RangeError("it names fields that it does not have");
    if (shape === this.#shapes.length) this.#shapes.push(this.#fields());
    const object: Record<string, unknown> = {};
    for (const key of this.#shapes[shape]!) object[key] = this.#value();
    return object;
  }
}

const LONE_BYTES = /\xed[\xa0-\xbf][\x80-\xbf]/;
const PIECES = /\xed[\xa0-\xbf][\x80-\xbf]|(?:(?!\xed[\xa0-\xbf]).)+/gs;

function decode(bytes: Buffer, from: number, to: number): string {
  const ascii = asciiText(bytes, from, to);
  if (ascii !== undefined) return ascii;
  const latin = bytes.toString("latin1", from, to);
  if (!LONE_BYTES.test(latin)) return bytes.toString("utf8", from, to);
  return latin.replace(PIECES, (piece) =>
    LONE_BYTES.test(piece)
      ? String.fromCharCode(0xd000 | ((piece.charCodeAt(1) & 0x3f) << 6) | (piece.charCodeAt(2) & 0x3f))
      : Buffer.from(piece, "latin1").toString(),
  );
}
