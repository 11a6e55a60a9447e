import { PatternError } from "../match/glob.js";
import { re2 } from "./re2.js";

/** A regular expression on command lines. */
export function regularExpression(text: string): (line: string) => boolean {
  try {
    return finderOf(text);
  } catch (cause) {
    throw new PatternError(`"${text}" is not a regular expression of RE2: ${(cause as Error).message}`);
  }
}

/** The same for an expression that RE2 is known to accept: it is compiled when a command line could match. */
export function knownRegularExpression(text: string): (line: string) => boolean {
  let find: ((line: string) => boolean) | undefined;
  const starts = literalPrefixes(text);
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
 * The possible beginnings of a matching text, or undefined where they are unknown. They are known for
 * `^word…` and `^(word|(word|word)…)…`, the usual form of rules on commands.
 */
export function literalPrefixes(text: string): readonly string[] | undefined {
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
  // An optional last character is not required.
  const start = /^[?*{]/.test(text.slice(word.length)) ? word.slice(0, -1) : word;
  return start === "" ? undefined : [start];
}

/** The parts between the bars outside of all parentheses. */
function alternativesOf(text: string): string[] {
  const parts = [""];
  walk(text, (character, depth) => {
    if (character === "|" && depth === 0) parts.push("");
    else parts.push(parts.pop() + character);
  });
  return parts;
}

/** The index of the parenthesis that closes the first one. */
function closing(text: string): number {
  let at = 0;
  let found = -1;
  walk(text, (character, depth) => {
    if (found < 0 && character === ")" && depth === 0) found = at;
    at += character.length;
  });
  return found;
}

/** Visits each character with its escape, and a class as one; `depth` is the number of open parentheses. */
function walk(text: string, visit: (character: string, depth: number) => void): void {
  let depth = 0;
  for (const [token] of text.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[\s\S]/g)) {
    if (token === ")") depth--;
    visit(token, depth);
    if (token === "(") depth++;
  }
}
