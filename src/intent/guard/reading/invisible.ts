import type { Span } from "../finding.js";

/** Invisible characters in places where no language needs them. */
interface Invisible extends Span {
  readonly rule:
    | "bidi-override"
    | "bidi-control"
    | "zero-width"
    | "tag-characters"
    | "hidden-data"
    | "filler";
  readonly what: string;
}

/** One pass finds candidates; the code below removes those that are innocent in their place. */
const CANDIDATE = /\p{Default_Ignorable_Code_Point}/gu;

/** Scripts that join and separate letters with ZWJ and ZWNJ. */
const JOINING =
  /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Inherited}]/u;
/** Scripts without spaces, which mark line breaks with U+200B. */
const UNSPACED =
  /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const EMOJI = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\u{1f1e6}-\u{1f1ff}\ufe0f\u20e3]/u;
const LETTER = /\p{L}/u;

const BLACK_FLAG = 0x1f3f4;

export function invisibles(text: string): Invisible[] {
  const found: Invisible[] = [];
  if (/^[\x00-\x7f]*$/.test(text)) return found;
  const rightToLeft = RIGHT_TO_LEFT.test(text);
  for (const match of text.matchAll(CANDIDATE)) {
    const at = match.index;
    const code = text.codePointAt(at)!;
    const end = at + match[0].length;
    const row = judge(text, at, end, code, rightToLeft);
    const last = found.at(-1);
    if (!row) continue;
    if (last?.end === at && last.rule === row.rule) found[found.length - 1] = { ...last, end };
    else found.push({ ...row, start: at, end });
  }
  return found;
}

function before(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  return text.slice(low >= 0xdc00 && low <= 0xdfff ? at - 2 : at - 1, at);
}

function after(text: string, end: number): string {
  return end < text.length ? String.fromCodePoint(text.codePointAt(end)!) : "";
}

type Row = Pick<Invisible, "rule" | "what"> | undefined;

function judge(text: string, at: number, end: number, code: number, rightToLeft: boolean): Row {
  const left = at > 0 ? before(text, at) : "";
  const right = after(text, end);
  if (code === 0x202d || code === 0x202e)
    return { rule: "bidi-override", what: "a character that reverses the text after it" };
  if ((code >= 0x202a && code <= 0x202c) || (code >= 0x2066 && code <= 0x2069) || code === 0x061c)
    return rightToLeft
      ? undefined
      : { rule: "bidi-control", what: "a control for right-to-left text, where there is none" };
  if (code === 0x200e || code === 0x200f)
    return rightToLeft
      ? undefined
      : { rule: "bidi-control", what: "a direction mark, where no text runs right to left" };
  if (code === 0x200c)
    return JOINING.test(left) && (right === "" || !/[a-z]/i.test(right))
      ? undefined
      : zeroWidth("non-joiner");
  if (code === 0x200d)
    return JOINING.test(left) || JOINING.test(right) || (EMOJI.test(left) && EMOJI.test(right))
      ? undefined
      : zeroWidth("joiner");
  if (code === 0x200b) return UNSPACED.test(left) || UNSPACED.test(right) ? undefined : zeroWidth("space");
  if (code === 0xfeff) return at === 0 ? undefined : zeroWidth("no-break space");
  if (code >= 0x2060 && code <= 0x206f) return zeroWidth(code === 0x2060 ? "word joiner" : "control");
  if (code === 0x00ad)
    // Inside a word it hyphenates; between blanks it stands in a table of characters.
    return (LETTER.test(left) && LETTER.test(right) && !softHyphens(text, at)) ||
      (/\s/.test(left) && /\s/.test(right))
      ? undefined
      : zeroWidth("soft hyphen");
  if (code === 0x034f) return /\p{M}/u.test(left) || /\p{M}/u.test(right) ? undefined : zeroWidth("joiner");
  if (code === 0x115f || code === 0x1160 || code === 0x3164 || code === 0xffa0)
    return /\p{Script=Hangul}/u.test(right)
      ? undefined
      : { rule: "filler", what: "an invisible filler character" };
  if (code === 0x17b4 || code === 0x17b5 || (code >= 0x180b && code <= 0x180f))
    return JOINING.test(left) ? undefined : zeroWidth("vowel");
  if (code >= 0xe0000 && code <= 0xe007f)
    return inFlag(text, at)
      ? undefined
      : { rule: "tag-characters", what: "invisible copies of ASCII letters" };
  return selector(text, at, end, code, left);
}

const zeroWidth = (what: string): Row => ({
  rule: "zero-width",
  what: `an invisible ${what} inside the text`,
});

/** A soft hyphen after every letter or two hyphenates nothing. */
function softHyphens(text: string, at: number): boolean {
  return (text.slice(Math.max(0, at - 6), at + 7).match(/\u00ad/g)?.length ?? 0) >= 4;
}

/** The flags of England, Scotland, Wales: a black flag, tags, and a cancel tag. */
function inFlag(text: string, at: number): boolean {
  let i = at;
  for (let n = 0; n < 8 && i >= 2; n++) {
    i -= 2;
    const code = text.codePointAt(i)!;
    if (code === BLACK_FLAG) return true;
    if (code < 0xe0000 || code > 0xe007f) return false;
  }
  return false;
}

/** One selector chooses a glyph for the character before it. Several in a row carry bytes. */
function selector(text: string, at: number, end: number, code: number, left: string): Row {
  // Marks of shorthand and of musical notation.
  if ((code >= 0x1bca0 && code <= 0x1bca3) || (code >= 0x1d173 && code <= 0x1d17a)) return undefined;
  const isSelector = (one: string) => /^[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]$/u.test(one);
  if (code >= 0xe01f0 || (code > 0xe007f && code < 0xe0100))
    return { rule: "hidden-data", what: "unassigned invisible characters" };
  if (isSelector(left) || isSelector(after(text, end)))
    return { rule: "hidden-data", what: "a run of variation selectors, which can carry any bytes" };
  if (code >= 0xe0100)
    return /\p{Script=Han}/u.test(left)
      ? undefined
      : { rule: "hidden-data", what: "a variation selector on a character without variants" };
  return at > 0 && /[a-z]/i.test(left)
    ? { rule: "hidden-data", what: "a variation selector on a plain letter" }
    : undefined;
}

/** The text without invisible characters, and the text that tag characters spell. */
export function stripInvisible(text: string): string {
  return text.replace(CANDIDATE, "");
}

/** The ASCII text that tag characters spell. */
export function tagText(text: string): string {
  if (!text.includes("\udb40")) return "";
  return [...text]
    .map((one) => one.codePointAt(0)!)
    .filter((code) => code >= 0xe0020 && code <= 0xe007e)
    .map((code) => String.fromCharCode(code - 0xe0000))
    .join("");
}

/** The bytes that runs of variation selectors spell, one per selector. */
export function selectorText(text: string): string {
  if (!/[\ufe00-\ufe0f\udb40]/.test(text)) return "";
  const bytes = [...text]
    .map((one) => one.codePointAt(0)!)
    .filter((code) => (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef))
    .map((code) => (code >= 0xe0100 ? code - 0xe0100 + 16 : code - 0xfe00));
  return bytes.length < 4 ? "" : Buffer.from(bytes).toString();
}
