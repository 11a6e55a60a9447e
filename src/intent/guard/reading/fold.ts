import { looseLatin } from "./unicode-script.js";

/** Text as a reader would understand it, with positions in the original: `at[i]` is the origin of the i-th unit. */
export interface TextView {
  readonly text: string;
  readonly origin: (index: number) => number;
}

const IDENTITY = (index: number) => index;

function plainView(text: string): TextView {
  return { text: text.toLowerCase(), origin: text.toLowerCase().length === text.length ? IDENTITY : () => 0 };
}

/** Builds a view unit by unit. */
function build(text: string, map: (character: string) => string): TextView {
  const origins: number[] = [];
  let out = "";
  let index = 0;
  for (const character of text) {
    const mapped = map(character);
    for (let i = 0; i < mapped.length; i++) origins.push(index);
    out += mapped;
    index += character.length;
  }
  origins.push(index);
  return { text: out, origin: (i) => origins[Math.min(i, origins.length - 1)]! };
}

const IGNORABLE = /^[\p{Default_Ignorable_Code_Point}\p{M}]$/u;

/**
 * Everything as plain Latin where possible: compatibility forms, accents, look-alikes of other scripts, invisible
 * characters.
 */
export function latinView(text: string): TextView {
  if (/^[\x00-\x7f]*$/.test(text)) return plainView(text);
  return build(text, (character) => (character <= "\x7f" ? character.toLowerCase() : latinOf(character)));
}

/** Looking a character up in the tables of Unicode takes long, and texts repeat theirs. */
const LATIN = new Map<string, string>();
const REMEMBERED_AT_MOST = 8192;

function latinOf(character: string): string {
  const known = LATIN.get(character);
  if (known !== undefined) return known;
  const latin = toLatin(character);
  if (LATIN.size < REMEMBERED_AT_MOST) LATIN.set(character, latin);
  return latin;
}

function toLatin(character: string): string {
  if (IGNORABLE.test(character)) return "";
  const boxed = boxedLetter(character.codePointAt(0)!);
  if (boxed !== undefined) return boxed;
  const simple = character.normalize("NFKD").replace(/\p{M}/gu, "");
  if (/^[\x00-\x7f]+$/.test(simple)) return simple.toLowerCase();
  return /[\u2018\u2019\u02bc]/.test(simple) ? "'" : (looseLatin(simple) ?? simple).toLowerCase();
}

/** White letters on black discs and squares, and the letters of flags. */
const BOXED = [0x1f150, 0x1f170, 0x1f1e6];

function boxedLetter(code: number): string | undefined {
  const first = BOXED.find((start) => code >= start && code < start + 26);
  return first === undefined ? undefined : String.fromCharCode(97 + code - first);
}

/** In its own script, lower case, accents kept where they are letters: for rules in other languages. */
export function nativeView(text: string): TextView {
  return build(text, (character) => {
    if (character <= "\x7f") return character.toLowerCase();
    return /^\p{Default_Ignorable_Code_Point}$/u.test(character)
      ? ""
      : character.normalize("NFKC").toLowerCase();
  });
}

const LEET: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "8": "b",
  "@": "a",
  $: "s",
  "!": "i",
  "|": "i",
  "€": "e",
  "+": "t",
};

/** Digits as letters, where a word mixes both. Undefined when no word does. */
export function leetView(view: TextView, one: "i" | "l"): TextView | undefined {
  if (!/[a-z][0134578@$!|+]+[a-z]|\b[0134578@$]+[a-z]{2}/.test(view.text)) return undefined;
  const text = view.text.replace(/[0134578@$!|+]/g, (digit, at: number) => {
    const beside =
      /[a-z@$]/.test(view.text[at - 1] ?? "") ||
      /[a-z@$]/.test(view.text[at + 1] ?? "") ||
      /[0-9][a-z]/.test(view.text.slice(at + 1, at + 3)) ||
      /[a-z][0-9]/.test(view.text.slice(Math.max(0, at - 2), at));
    return beside ? (digit === "1" ? one : LEET[digit]!) : digit;
  });
  return { text, origin: view.origin };
}

/**
 * Joins letters with something between each two of them: `i g n o r e`, `i.g.n.o.r.e`. Undefined when there are none.
 */
export function squeezedView(view: TextView): TextView | undefined {
  const spaced = /(?<![a-z0-9])(?:[a-z0-9][ .\-_*/|~+]){5,}[a-z0-9](?![a-z0-9])/g;
  if (!spaced.test(view.text)) return undefined;
  const origins: number[] = [];
  let out = "";
  let last = 0;
  const push = (from: number, to: number, squeeze: boolean) => {
    for (let i = from; i < to; i++) {
      if (squeeze && /[ .\-_*/|~+]/.test(view.text[i]!)) continue;
      out += view.text[i];
      origins.push(view.origin(i));
    }
  };
  spaced.lastIndex = 0;
  for (const match of view.text.matchAll(spaced)) {
    push(last, match.index, false);
    push(match.index, match.index + match[0].length, true);
    last = match.index + match[0].length;
  }
  push(last, view.text.length, false);
  origins.push(view.origin(view.text.length));
  return { text: out, origin: (i) => origins[Math.min(i, origins.length - 1)]! };
}

/** Splits words that punctuation joins: `ignore_previous-instructions`. Undefined when there are none. */
export function unjoinedView(view: TextView): TextView | undefined {
  if (!/[a-z]{2}[_\-.*~/+|][a-z]{2,}[_\-.*~/+|][a-z]{2}/.test(view.text)) return undefined;
  return { text: view.text.replace(/(?<=[a-z])[_\-.*~/+|](?=[a-z])/g, " "), origin: view.origin };
}
