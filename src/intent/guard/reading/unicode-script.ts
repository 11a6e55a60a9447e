import { confusablesMap } from "confusables";

/** Scripts that can be told apart in a label, after TR39. Common and inherited characters belong to all. */
const SCRIPTS = [
  "Latin",
  "Cyrillic",
  "Greek",
  "Armenian",
  "Hebrew",
  "Arabic",
  "Devanagari",
  "Thai",
  "Georgian",
  "Hangul",
  "Hiragana",
  "Katakana",
  "Han",
  "Bopomofo",
  "Cherokee",
  "Ethiopic",
  "Khmer",
  "Bengali",
  "Tamil",
  "Telugu",
  "Lisu",
  "Coptic",
] as const;
const TESTS = SCRIPTS.map((name) => [name, new RegExp(`\\p{Script=${name}}`, "u")] as const);

function unicodeScript(character: string): string | undefined {
  if (/^[\x00-\x7f]$/.test(character)) return /[a-z]/i.test(character) ? "Latin" : undefined;
  return (
    TESTS.find(([, test]) => test.test(character))?.[0] ??
    (/(?![\p{Script=Common}\p{Script=Inherited}])\p{L}/u.test(character) ? "other" : undefined)
  );
}

export function unicodeScripts(text: string): Set<string> {
  const found = new Set<string>();
  for (const character of text) {
    const script = unicodeScript(character);
    if (script) found.add(script);
  }
  return found;
}

/** TR39's "highly restrictive" level: one script, or Latin with the scripts that East Asian languages mix. */
const MIXES = [
  ["Latin", "Han", "Hiragana", "Katakana"],
  ["Latin", "Han", "Bopomofo"],
  ["Latin", "Han", "Hangul"],
];

export function isMixed(scripts: ReadonlySet<string>): boolean {
  if (scripts.size < 2) return false;
  return !MIXES.some((mix) => [...scripts].every((script) => mix.includes(script)));
}

/** Letters that ordinary fonts draw like Latin ones: much stricter than mere resemblance. */
const TWINS = new Map(
  Object.entries({
    a: "аɑαᴀ",
    b: "ƅᏏЬЪ",
    c: "сϲᴄⲥ",
    d: "ԁɗᏧⅾ",
    e: "еҽ℮ᴇє",
    f: "ƒẝ",
    g: "ɡցɢ",
    h: "һհʜ",
    i: "іıɩιӏᎥ",
    j: "јϳᴊ",
    k: "κкᴋĸ",
    l: "ӏɭⅼｌłΙІ",
    m: "ⅿмᴍ",
    n: "ոռпɴ",
    o: "оοօσᴏഠ०",
    p: "рρᴘ",
    q: "ԛգզ",
    r: "гᴦʀ",
    s: "ѕꜱʂ",
    t: "тτᴛ",
    u: "υսʋᴜц",
    v: "νѵᴠⅴ",
    w: "ԝωաᴡѡ",
    x: "хχⅹ",
    y: "уүγʏყ",
    z: "ᴢʐ",
    A: "АΑ",
    B: "ВΒ",
    C: "СϹ",
    E: "ЕΕ",
    H: "НΗ",
    I: "ІΙ",
    J: "Ј",
    K: "КΚ",
    M: "МΜ",
    N: "Ν",
    O: "ОΟ",
    P: "РΡ",
    S: "Ѕ",
    T: "ТΤ",
    X: "ХΧ",
    Y: "ΥҮ",
    Z: "Ζ",
  }).flatMap(([latin, twins]) => [...twins].map((twin) => [twin, latin] as const)),
);

/** Strips marks and replaces look-alikes: two strings with the same skeleton look alike to a person. */
export function skeleton(text: string): string {
  let out = "";
  for (const character of text.normalize("NFKD").replace(/\p{M}/gu, ""))
    out += TWINS.get(character) ?? character;
  return out.toLowerCase();
}

/** Whether all letters look like Latin ones: the word reads as Latin but is not. */
export function isWholeTwin(text: string): boolean {
  const letters = [...text].filter((character) => /\p{L}/u.test(character));
  return letters.length > 0 && letters.every((character) => TWINS.has(character));
}

/**
 * The Latin letter that a character resembles, loosely: for reading disguised text, not for findings on look-alikes.
 */
export function looseLatin(character: string): string | undefined {
  return TWINS.get(character) ?? confusablesMap.get(character);
}

/** Words that mix scripts so that a person reads a Latin word, e.g. `pаypal` with a Cyrillic а. */
export function disguisedWords(text: string): { word: string; reads: string; index: number }[] {
  const found: { word: string; reads: string; index: number }[] = [];
  for (const match of text.matchAll(/[\p{L}\p{M}\p{Nd}]{2,64}/gu)) {
    const word = match[0];
    if (!/[a-z]/i.test(word) || !/[\u0370-\u058f\u13a0-\u13ff\u2c80-\u2cff]/.test(word)) continue;
    const foreign = [...word].filter((character) =>
      /[\u0370-\u058f\u13a0-\u13ff\u2c80-\u2cff]/.test(character),
    );
    if (!foreign.every((character) => TWINS.has(character))) continue;
    const code = word.length < 4 && /[.(=]/.test(text[match.index + word.length] ?? "");
    if (
      code ||
      changes(word) >= 2 ||
      (word.length >= 4 && foreign.length === 1 && !/^[\u0370-\u03ff]|[\u0370-\u03ff]$/.test(word))
    )
      found.push({ word, reads: skeleton(word), index: match.index });
  }
  return found;
}

/** How often a word changes between scripts. `PDFы`, once, is a Russian ending; `pаypal`, twice, is a disguise. */
function changes(word: string): number {
  let last: string | undefined;
  let count = 0;
  for (const character of word) {
    const script = unicodeScript(character);
    if (!script) continue;
    if (last && last !== script) count++;
    last = script;
  }
  return count;
}
