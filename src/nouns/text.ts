import { isUtf8 } from "node:buffer";

export { counted, groupDigits } from "./counted.js";

/**
 * File names in the kernel are bytes; JavaScript strings are UTF-16. A byte that is not UTF-8 becomes a lone
 * surrogate (U+DC80 + byte - 0x80, as in Python). So different names stay different, and each converts back
 * to the same bytes.
 */
/** Buffer's own toString, without the lookup of the encoding. */
const { latin1Slice, utf8Slice } = Buffer.prototype as unknown as {
  latin1Slice(this: Uint8Array, from: number, to: number): string;
  utf8Slice(this: Uint8Array, from: number, to: number): string;
};

export function decodeText(bytes: Uint8Array): string {
  return isUtf8(bytes) ? utf8Slice.call(bytes, 0, bytes.length) : decodePieces(bytes);
}

/** The bytes from..to if they are plain ASCII, else undefined. Short names need no view of their own. */
export function asciiText(bytes: Uint8Array, from: number, to: number): string | undefined {
  for (let i = from; i < to; i++) if (bytes[i]! > 0x7f) return undefined;
  return latin1Slice.call(bytes, from, to);
}

/** The data may be long and hold any bytes: this function never throws and decodes no byte twice. */
function decodePieces(bytes: Uint8Array): string {
  let text = "";
  let valid = 0;
  for (let i = 0; i < bytes.length; ) {
    const length = sequenceLength(bytes, i);
    i += length;
    if (length > 0) continue;
    text += utf8Slice.call(bytes, valid, i) + String.fromCharCode(0xdc00 + bytes[i]!);
    i += 1;
    valid = i;
  }
  return text + utf8Slice.call(bytes, valid, bytes.length);
}

/** The length of the valid UTF-8 sequence at i, or 0 (table 3-7 of the Unicode standard). */
function sequenceLength(bytes: Uint8Array, i: number): number {
  const first = bytes[i]!;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const second = bytes[i + 1] ?? 0;
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > most) return 0;
  for (let k = 2; k < length; k++) if (((bytes[i + k] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}

/** The bytes that decodeText read. */
export function encodeText(text: string): Uint8Array {
  if (!/[\udc80-\udcff]/.test(text)) return Buffer.from(text);
  const parts: Buffer[] = [];
  for (const character of text) {
    const code = character.charCodeAt(0);
    const lone = character.length === 1 && code >= 0xdc80 && code <= 0xdcff;
    parts.push(lone ? Buffer.from([code - 0xdc00]) : Buffer.from(character));
  }
  return Buffer.concat(parts);
}

/**
 * For a terminal: escapes control characters, invisible characters and those that change the direction of
 * text.
 */
export function escapeControl(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (sign) => {
      const code = sign.charCodeAt(0);
      return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
    },
  );
}
