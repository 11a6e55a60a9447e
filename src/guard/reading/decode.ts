import type { Span } from "../finding.js";

/** Text that was written in another form inside the text, and where. */
export interface Decoded extends Span {
  readonly how: string;
  readonly text: string;
}

/** At most so many pieces are looked into: the rest of a long text that is all encoding is not prose. */
const PIECES = 64;
const LENGTH = 64 * 1024;

interface Form {
  readonly how: string;
  readonly pattern: RegExp;
  readonly decode: (piece: string) => string;
}

const FORMS: readonly Form[] = [
  {
    how: "base64",
    pattern: /(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{16,}={0,2}(?![A-Za-z0-9+/_-])/g,
    decode: (piece) => Buffer.from(piece, "base64").toString(),
  },
  {
    how: "hexadecimal",
    pattern: /(?<![0-9a-f])(?:[0-9a-f]{2}[ :]?){12,}(?![0-9a-f])/gi,
    decode: (piece) => Buffer.from(piece.replace(/[ :]/g, ""), "hex").toString(),
  },
  {
    how: "\\x escapes",
    pattern: /(?:\\x[0-9a-f]{2}){6,}/gi,
    decode: (piece) => Buffer.from(piece.replace(/\\x/gi, ""), "hex").toString(),
  },
  {
    how: "\\u escapes",
    pattern: /(?:\\u[0-9a-f]{4}){4,}/gi,
    decode: (piece) =>
      piece.replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  },
  {
    how: "percent encoding",
    pattern: /(?:[\w.~-]{0,40}%[0-9a-f]{2}){3,}[\w.~-]{0,40}/gi,
    decode: (piece) =>
      piece.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
        Buffer.from(bytes.replaceAll("%", ""), "hex").toString(),
      ),
  },
  {
    how: "HTML entities",
    pattern: /(?:&#(?:x[0-9a-f]{1,6}|\d{1,7});){4,}/gi,
    decode: (piece) =>
      piece.replace(/&#(x?)([0-9a-f]+);/gi, (_, x: string, digits: string) => {
        const code = Number.parseInt(digits, x ? 16 : 10);
        return code <= 0x10ffff ? String.fromCodePoint(code) : "";
      }),
  },
  {
    how: "binary",
    pattern: /(?<![01])(?:[01]{8} ?){6,}(?![01])/g,
    decode: (piece) =>
      piece.replace(/([01]{8}) ?/g, (_, bits: string) => String.fromCharCode(Number.parseInt(bits, 2))),
  },
];

/** Every piece of the text that decodes to readable words. */
export function decodings(text: string): Decoded[] {
  const found: Decoded[] = [];
  const part = text.slice(0, LENGTH);
  for (const { how, pattern, decode } of FORMS) {
    let count = 0;
    for (const match of part.matchAll(pattern)) {
      if (++count > PIECES) break;
      const decoded = decode(match[0]);
      if (isReadable(decoded) && decoded !== match[0])
        found.push({ how, text: decoded, start: match.index, end: match.index + match[0].length });
    }
  }
  return found;
}

/** Words, not bytes: almost all of it printable, with letters in it. */
function isReadable(text: string): boolean {
  if (text.length < 6 || text.includes("\ufffd")) return false;
  const odd = text.match(/[\0-\x08\x0e-\x1f\x7f]/g)?.length ?? 0;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return odd === 0 && letters * 2 >= text.length;
}

export function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= "Z" ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
}
