import type { Span } from "../finding.js";

/** Decoded text from inside a text, and its position. */
interface DecodedText extends Span {
  readonly how: string;
  readonly text: string;
}

/** At most this many pieces are decoded: a text that is mostly encoding is not prose. */
const PIECES = 64;
const LENGTH = 64 * 1024;

interface Form {
  readonly how: string;
  readonly pattern: RegExp;
  readonly decode: (piece: string) => string;
}

/** a to z. */
const MORSE = new Map(
  ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
    .split(" ")
    .map((sign, i) => [sign, String.fromCharCode(97 + i)]),
);

function base32(piece: string): string {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const c of piece.replace(/=+$/, "")) {
    value = ((value << 5) | "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return Buffer.from(bytes).toString();
}

const FORMS: readonly Form[] = [
  {
    how: "base64",
    pattern: /(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{16,}={0,2}(?![A-Za-z0-9+/_-])/g,
    decode: (piece) => Buffer.from(piece, "base64").toString(),
  },
  {
    how: "base64 in lines",
    pattern: /(?<=^|\n)(?:[A-Za-z0-9+/]{8,76}\r?\n){2,64}[A-Za-z0-9+/]{1,76}={0,2}(?=\s|$)/g,
    decode: (piece) => Buffer.from(piece.replace(/\s/g, ""), "base64").toString(),
  },
  {
    how: "base32",
    pattern: /(?<![A-Za-z0-9])[A-Z2-7]{24,}={0,6}(?![A-Za-z0-9])/g,
    decode: base32,
  },
  {
    how: "numbers of characters",
    pattern: /(?<![\d.,])(?:\d{2,3}(?:, ?|; ?| )){11,4000}\d{2,3}(?![\d.])/g,
    decode: (piece) => piece.replace(/(\d+)[,; ]*/g, (_, code: string) => String.fromCharCode(Number(code))),
  },
  {
    how: "octal escapes",
    pattern: /(?:\\[0-7]{2,3}){6,}/g,
    decode: (piece) =>
      piece.replace(/\\([0-7]+)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))),
  },
  {
    how: "Morse code",
    pattern: /(?<![.-])(?:[.-]{1,5}[ /|]{1,4}){16,4000}[.-]{1,5}(?![.-])/g,
    decode: (piece) =>
      piece
        .replace(/[.-]+/g, (sign) => MORSE.get(sign) ?? "")
        .replace(/ ?[/|] ?| {3,}/g, "_")
        .replaceAll(" ", "")
        .replaceAll("_", " "),
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
    // It starts no earlier than a piece can, so that long words without a % are skipped at once.
    pattern:
      /(?<![\w.~-])(?=[\w.~-]{0,40}%)(?:[\w.~-]{0,40}%[0-9a-f]{2}){3,}[\w.~-]{0,40}|(?:%[0-9a-f]{2}[\w.~-]{0,40}){3,}/gi,
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
export function decodings(text: string): DecodedText[] {
  const found: DecodedText[] = [];
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

/** Words, not bytes: almost all printable, and with letters. */
function isReadable(text: string): boolean {
  if (text.length < 6 || text.includes("\ufffd")) return false;
  const odd = text.match(/[\0-\x08\x0e-\x1f\x7f]/g)?.length ?? 0;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return odd === 0 && letters * 2 >= text.length;
}
