import { components } from "./components.js";

/**
 * Other ways to read a path, by programs that decode, fold or trim it before use. The guard judges each of them: a
 * path is allowed only if all its readings are.
 */
interface PathReading {
  readonly path: string;
  /** How this reading came about, for the reason of a finding. */
  readonly how: string;
}

/** Characters that are drawn, or normalized, as a slash or a backslash. */
const SLASHES = /[\u2044\u2215\u29f8\uff0f\u2571\u27cb\u1735\u3033\u2cc6\u29f6]/g;
const BACKSLASHES = /[\u2216\u29f5\u29f9\uff3c\ufe68\u27cd]/g;
const DOTS = /[\uff0e\u2024\ufe52\u3002\uff61\u0701\u0702\ua60e\u{10a50}\u{1d16d}]/gu;
const TWO_DOTS = /[\u2025\ufe30]/g;
/** Characters that are not drawn at all. */
const INVISIBLE =
  /\u034f|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/gu;
const ROUNDS = 3;

export function withoutInvisible(path: string): string {
  return path.replace(INVISIBLE, "");
}

/** The readings that differ from the path itself. Plain ASCII without escapes has none. */
export function pathReadings(path: string): readonly PathReading[] {
  const found = new Map<string, string>();
  const add = (text: string, how: string) => {
    if (text !== path && !found.has(text)) found.set(text, how);
  };
  if (/[^\x20-\x7e]/.test(path)) {
    add(foldUnicode(path), "look-alike characters");
    add(withoutInvisible(path), "invisible characters");
    add(path.replace(/[\x00-\x1f\x7f]/g, ""), "control characters");
    const nul = path.indexOf("\0");
    if (nul >= 0) add(path.slice(0, nul), "the NUL byte");
  }
  if (path.includes("%")) for (const text of percentDecoded(path)) add(text, "percent escapes");
  if (/\\[xu0-7]/.test(path)) add(unescaped(path), "escapes");
  if (path.includes("&")) add(entityDecoded(path), "character references");
  if (path.includes("\\")) add(path.replaceAll("\\", "/"), "backslashes");
  if (/\.{3}|\.\/\./.test(path)) add(path.replace(/\.\.[\\/]/g, ""), "every ../");
  if (/[. ](?:[\\/]|$)/.test(path)) add(trimmed(path), "trailing dots and spaces");
  for (const [text, how] of [...found]) if (text.includes("\\")) add(text.replaceAll("\\", "/"), how);
  return [...found].map(([text, how]) => ({ path: text, how }));
}

function foldUnicode(path: string): string {
  return withoutInvisible(path)
    .replace(SLASHES, "/")
    .replace(BACKSLASHES, "\\")
    .replace(TWO_DOTS, "..")
    .replace(DOTS, ".")
    .normalize("NFKC");
}

/** Repeatedly, since `%252e` decodes to `%2e` and then to `.`; also as decoders of overlong UTF-8 or `%u002e` do. */
function percentDecoded(path: string): string[] {
  const found: string[] = [];
  let text = path;
  for (let round = 0; round < ROUNDS; round++) {
    const next = decodeOnce(text);
    if (next === text) break;
    found.push(next);
    text = next;
  }
  return found;
}

function decodeOnce(text: string): string {
  return foldUnicode(
    text
      .replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      // 0x2e and 0x2f in two, three or four bytes, of which only the last six bits count.
      .replace(/%c[01]%([0-9a-f]{2})/gi, (whole, hex: string) => overlong(whole, hex))
      .replace(/%e0%80%([0-9a-f]{2})/gi, (whole, hex: string) => overlong(whole, hex))
      .replace(/%f0%80%80%([0-9a-f]{2})/gi, (whole, hex: string) => overlong(whole, hex))
      .replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8")),
  );
}

function overlong(whole: string, hex: string): string {
  const high = whole.slice(1, 3).toLowerCase() === "c1" ? 0x40 : 0;
  return String.fromCharCode(high | (Number.parseInt(hex, 16) & 0x3f));
}

function unescaped(path: string): string {
  return path.replace(/\\(?:x([0-9a-f]{2})|u\{?([0-9a-f]{4})\}?|([0-3]?[0-7]{2}))/gi, (_, x, u, o) =>
    String.fromCharCode(Number.parseInt(x ?? u ?? o, o === undefined ? 16 : 8)),
  );
}

function entityDecoded(path: string): string {
  return path.replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));?/gi, (whole, hex, decimal) => {
    const code = Number.parseInt(hex ?? decimal, hex === undefined ? 10 : 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** As Windows opens it. `..` stays unchanged. */
function trimmed(path: string): string {
  const start = /^[/\\]*/.exec(path)![0].slice(0, 2);
  return (
    start +
    components(path)
      .map((part) => part.replace(/[. ]+$/, "") || part.trim())
      .join("/")
  );
}
