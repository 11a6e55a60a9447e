import { PatternError } from "../match/glob.js";
import { re2 } from "./re2.js";

/** A regular expression on command lines. */
export function regularExpression(text: string): (line: string) => boolean {
  try {
    return finderOf(text);
  } catch (cause) {
    throw new PatternError(
      `"${text}" is not a regular expression that RE2 takes: ${(cause as Error).message}`,
    );
  }
}

/** The same of one that RE2 is known to take: it is compiled when a command line could match. */
export function knownRegularExpression(text: string): (line: string) => boolean {
  let find: ((line: string) => boolean) | undefined;
  const starts = startsOf(text);
  return (line) => {
    if (starts && !starts.some((start) => line.startsWith(start))) return false;
    find ??= finderOf(text);
    return find(line);
  };
}

function finderOf(text: string): (line: string) => boolean {
  const compiled = re2().RE2JS.compile(text);
  return (line) => compiled.matcher(line).find();
}

/**
 * What a text begins with that the expression matches: one of these, or undefined where that cannot be told. It is told of
 * `^word…` and `^(word|(word|word)…)…`, which is what rules on commands look like.
 */
export function startsOf(text: string): readonly string[] | undefined {
  if (!text.startsWith("^") || alternativesOf(text).length > 1) return undefined;
  return beginnings(text.slice(1));
}

function beginnings(text: string): readonly string[] | undefined {
  if (text.startsWith("(")) {
    const end = closing(text);
    if (end < 0 || text[1] === "?" || /^[?*{]/.test(text.slice(end + 1))) return undefined;
    const all = alternativesOf(text.slice(1, end)).map(beginnings);
    return all.every((some) => some !== undefined) ? all.flat() : undefined;
  }
  const [word = ""] = /^[\w -]*/.exec(text) ?? [];
  // What may be left out is not needed.
  const start = /^[?*{]/.test(text.slice(word.length)) ? word.slice(0, -1) : word;
  return start === "" ? undefined : [start];
}

/** The parts between the bars that stand outside of all parentheses. */
function alternativesOf(text: string): string[] {
  const parts = [""];
  walk(text, (character, depth) => {
    if (character === "|" && depth === 0) parts.push("");
    else parts.push(parts.pop() + character);
  });
  return parts;
}

/** Where the parenthesis that a text begins with is closed. */
function closing(text: string): number {
  let at = 0;
  let found = -1;
  walk(text, (character, depth) => {
    if (found < 0 && character === ")" && depth === 0) found = at;
    at += character.length;
  });
  return found;
}

/** Each character with what escapes it, a class as one; `depth` is how many parentheses are open around it. */
function walk(text: string, visit: (character: string, depth: number) => void): void {
  let depth = 0;
  for (const [token] of text.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[\s\S]/g)) {
    if (token === ")") depth--;
    visit(token, depth);
    if (token === "(") depth++;
  }
}
