import type { TextView } from "./fold.js";

/** Words that attacks need, and that are misspelt to evade filters. */
const WANTED =
  `ignore ignoring disregard forget override bypass overlook neglect previous previously prior above earlier preceding
  instruction instructions prompt prompts system guideline guidelines directive directives restriction restrictions command commands
  everything reveal password passwords credentials developer`.split(/\s+/);

/** Real words that are a letter or two away from those. */
const REAL = new Set(
  `ignored ignores ignorer forged forges forgets forgot forged overrides overridden overrode overlooks overlooked overtook neglects previews preview
  priory prier prior's abode abuse about prompted prompter prompter's promptly prompting systems system's stem guide guided
  guidance directed director directory direction directions directories restricted restricting instructed instructor instructors
  construction constructions instructing command commanded commander commas commend comment comments commends commented everything's
  revealed reveals revel repeal passcode passworded credential credentialed developed develops developers development developer's
  passes earliest early pearlier preceded precedes proceeding preceding's exceeding disregards disregarded ignorance
  injections induction inductions introduction reduction deduction`.split(/\s+/),
);

const BY_LETTER = new Map<string, string[]>();
for (const word of WANTED) BY_LETTER.set(word[0]!, [...(BY_LETTER.get(word[0]!) ?? []), word]);
const EXACT = new Set(WANTED);

/** How much text around a misspelt word is read again. */
const AROUND = 160;
/** A text with more of them is badly spelt, or in a language that we take for English. */
const MOST = 200;

/** The text around misspelt words, with the spelling corrected. */
export function* correctedViews({ text, origin }: TextView): Iterable<TextView> {
  const known = new Map<string, string | undefined>();
  const words: { at: number; word: string; meant: string }[] = [];
  for (const { 0: word, index } of text.matchAll(/[a-z]{4,16}/g)) {
    if (!known.has(word)) known.set(word, meantBy(word));
    const meant = known.get(word);
    if (meant !== undefined) words.push({ at: index, word, meant });
    if (words.length > MOST) return;
  }
  for (let i = 0; i < words.length; ) {
    const from = Math.max(0, words[i]!.at - AROUND);
    let to = from;
    let out = "";
    const origins: number[] = [];
    const copy = (until: number) => {
      for (; to < until; to++) {
        out += text[to];
        origins.push(origin(to));
      }
    };
    for (; i < words.length && words[i]!.at <= Math.max(to, from + AROUND) + AROUND; i++) {
      const { at, word, meant } = words[i]!;
      copy(at);
      out += meant;
      for (let n = 0; n < meant.length; n++) origins.push(origin(at));
      to = at + word.length;
    }
    copy(Math.min(text.length, to + AROUND));
    yield { text: out, origin: (index) => origins[Math.min(index, origins.length - 1)] ?? 0 };
  }
}

/** The intended word, when this is a misspelling of one. */
function meantBy(word: string): string | undefined {
  if (EXACT.has(word) || REAL.has(word)) return undefined;
  return BY_LETTER.get(word[0]!)?.find((meant) => {
    const allowed = meant.length >= 9 ? 2 : 1;
    return (
      Math.abs(meant.length - word.length) <= allowed &&
      (distance(word, meant) <= allowed || isScrambled(word, meant))
    );
  });
}

function isScrambled(word: string, meant: string): boolean {
  const sorted = (text: string) => [...text].sort().join("");
  return word.at(-1) === meant.at(-1) && sorted(word) === sorted(meant);
}

/** Letters that are missing, added, wrong, or swapped with their neighbour. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, before[j - 2]! + 1);
      row.push(best);
    }
    before = last;
    last = row;
  }
  return last[b.length]!;
}
