/**
 * The kernel's names are bytes; JavaScript's are UTF-16. Bytes that are not UTF-8 become lone surrogates
 * (U+DC80 + byte - 0x80, as Python does), so that no two names look alike and each can be turned back.
 */
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Buffer's own toString without its choice of encodings. */
const { latin1Slice } = Buffer.prototype as unknown as {
  latin1Slice(this: Uint8Array, from: number, to: number): string;
};

export function decodeText(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return decodePieces(bytes);
  }
}

/** The bytes from..to if they are plain ASCII, else undefined: short names need no view of their own. */
export function asciiText(bytes: Uint8Array, from: number, to: number): string | undefined {
  for (let i = from; i < to; i++) if (bytes[i]! > 0x7f) return undefined;
  return latin1Slice.call(bytes, from, to);
}

function decodePieces(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; ) {
    const length = sequenceLength(bytes, i);
    if (length === 0) {
      text += String.fromCharCode(0xdc00 + bytes[i]!);
      i += 1;
    } else {
      text += strict.decode(bytes.subarray(i, i + length));
      i += length;
    }
  }
  return text;
}

/** Length of the valid UTF-8 sequence at i, 0 when there is none. */
function sequenceLength(bytes: Uint8Array, i: number): number {
  const first = bytes[i]!;
  const length =
    first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length <= 1 || i + length > bytes.length) return length === 1 ? 1 : 0;
  try {
    strict.decode(bytes.subarray(i, i + length));
    return length;
  } catch {
    return 0;
  }
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
