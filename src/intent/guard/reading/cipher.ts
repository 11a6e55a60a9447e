/**
 * Text whose letters were shifted along the alphabet (ROT13 and similar), mirrored (Atbash) or written backwards. All
 * of these keep the distance between neighbouring letters, except for its sign. So one search finds all 104 variants.
 */

/** Runs of letters that occur in plain attacks. */
const TELLING = [
  "previousinstructions",
  "priorinstructions",
  "allinstructions",
  "aboveinstructions",
  "yourinstructions",
  "theinstructions",
  "systemprompt",
  "initialprompt",
  "ignoreall",
  "ignoreprevious",
  "ignoreyour",
  "ignorethe",
  "disregard",
  "everythingabove",
  "forgeteverything",
  "overrideall",
  "youarenow",
  "passwords",
  "thepassword",
  "apikeys",
  "theapikey",
  "credentials",
  "privatekey",
  "donottell",
  "nevertell",
];

interface Trace {
  readonly steps: string;
  readonly first: number;
  readonly mirrored: boolean;
  readonly backwards: boolean;
}

/** The distance of each letter from the one before it, as searchable text. */
function steps(letters: string, sign: 1 | -1 = 1): string {
  const out = new Uint16Array(Math.max(0, letters.length - 1));
  for (let i = 1; i < letters.length; i++)
    out[i - 1] = 97 + ((sign * (letters.charCodeAt(i) - letters.charCodeAt(i - 1)) + 26) % 26);
  let text = "";
  for (let i = 0; i < out.length; i += 8192) text += String.fromCharCode(...out.subarray(i, i + 8192));
  return text;
}

const reversed = (text: string): string => [...text].reverse().join("");

const TRACES: readonly Trace[] = TELLING.flatMap((word) =>
  [false, true].flatMap((backwards) =>
    [false, true].map((mirrored) => {
      const written = backwards ? reversed(word) : word;
      return {
        steps: steps(written, mirrored ? -1 : 1),
        first: written.charCodeAt(0) - 97,
        mirrored,
        backwards,
      };
    }),
  ),
);

interface Deciphered {
  readonly how: string;
  /** Letters only. */
  readonly letters: string;
}

/** The letters of a text (a to z only) with such a cipher undone; nothing for plain text. */
export function deciphered(letters: string): Deciphered[] {
  const text = steps(letters);
  const found = new Map<string, Deciphered>();
  for (const { steps: trace, first, mirrored, backwards } of TRACES) {
    const at = text.indexOf(trace);
    if (at < 0) continue;
    const here = letters.charCodeAt(at) - 97;
    const shift = mirrored ? (first + here) % 26 : (here - first + 26) % 26;
    if (shift === 0 && !mirrored && !backwards) continue;
    const how = `${mirrored ? "mirrored" : `shifted by ${shift}`}${backwards ? ", backwards" : ""}`;
    if (!found.has(how))
      found.set(how, {
        how: nameOf(shift, mirrored, backwards),
        letters: undo(letters, shift, mirrored, backwards),
      });
  }
  return [...found.values()];
}

function nameOf(shift: number, mirrored: boolean, backwards: boolean): string {
  if (mirrored) return backwards ? "in a mirrored alphabet, backwards" : "in a mirrored alphabet";
  if (shift === 0) return "backwards";
  const moved = shift === 13 ? "in ROT13" : `with letters moved by ${shift}`;
  return backwards ? `${moved}, backwards` : moved;
}

function undo(letters: string, shift: number, mirrored: boolean, backwards: boolean): string {
  const plain = letters.replace(/[a-z]/g, (letter) => {
    const code = letter.charCodeAt(0) - 97;
    return String.fromCharCode(97 + ((mirrored ? shift - code + 26 : code - shift + 26) % 26));
  });
  return backwards ? reversed(plain) : plain;
}
