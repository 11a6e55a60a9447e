import {
  ANY_DEPTH,
  type CharacterSet,
  matchPart,
  matchParts,
  matchTokens,
  ONE,
  type Part,
  pushText,
  STAR,
  type Token,
} from "../../nouns/glob.js";

/**
 * Path patterns. `*` and `?` stay within one component and match hidden names too; `**` stands alone between slashes
 * and means any number of components, none included: `/a/**` is `/a` and all below it. `{a,b}`, `[a-z]`, `[!a-z]`;
 * a backslash takes a special character as it is.
 */
export interface Glob {
  readonly text: string;
  /** The leading components without wildcards: the key for lookups. */
  readonly literal: readonly string[];
  /** The pattern has no wildcards at all. */
  readonly exact: boolean;
  readonly parts: readonly Part[];
}

/** A pattern that cannot be read. The text says why, and what to write instead. */
export class PatternError extends Error {}

const MAX_ALTERNATIVES = 1000;

/** `a{b,c}d` as `abd` and `acd`; braces may nest. */
export function expandGlobBraces(text: string): string[] {
  const open = findOpen(text);
  if (open < 0) return [text];
  const pieces: string[] = [];
  let depth = 0;
  let from = open + 1;
  let at = open;
  for (; at < text.length; at++) {
    const c = text[at];
    if (c === "\\") at++;
    else if (c === "{") depth++;
    else if (c === "}" && --depth === 0) break;
    else if (c === "," && depth === 1) {
      pieces.push(text.slice(from, at));
      from = at + 1;
    }
  }
  if (at >= text.length) throw new PatternError(`"${text}": a { is never closed`);
  pieces.push(text.slice(from, at));
  const tails = expandGlobBraces(text.slice(at + 1));
  const all = pieces.flatMap(expandGlobBraces).flatMap((piece) => tails.map((tail) => piece + tail));
  if (all.length > MAX_ALTERNATIVES)
    throw new PatternError(`"${text}" has more than ${MAX_ALTERNATIVES} alternatives`);
  return all.map((alternative) => text.slice(0, open) + alternative);
}

function findOpen(text: string): number {
  if (!text.includes("{")) return -1;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text.startsWith("${", i)) {
      const end = text.indexOf("}", i);
      if (end < 0) return -1;
      i = end;
    } else if (text[i] === "{") return i;
  }
  return -1;
}

/** One absolute pattern without braces. */
export function compileGlob(text: string): Glob {
  if (!text.startsWith("/") && text !== "**" && !text.startsWith("**/"))
    throw new PatternError(
      `"${text}" would match nothing: a path pattern starts with /, ~/, \${…} or **/ (did you mean "**/${text}"?)`,
    );
  if (text.includes("\0")) throw new PatternError(`"${text}": a path cannot contain a NUL`);
  const parts = componentsOf(text).map((part) => compilePart(text, part));
  const wild = parts.findIndex((part) => typeof part !== "string");
  const literal = (wild < 0 ? parts : parts.slice(0, wild)) as string[];
  return { text, literal, exact: wild < 0, parts: joinDepths(parts) };
}

function componentsOf(text: string): string[] {
  if (text.length > 1 && text.endsWith("/"))
    throw new PatternError(`"${text}" ends in a slash: write "${text}**" for the folder and all in it`);
  const parts = text.split("/");
  if (text.startsWith("/")) parts.shift();
  if (text === "/") return [];
  for (const part of parts) {
    if (part === "")
      throw new PatternError(`"${text}" has two slashes in a row: the kernel's paths never do`);
    if (part === "." || part === "..")
      throw new PatternError(
        `"${text}" contains "${part}": paths are compared after such parts are resolved`,
      );
  }
  return parts;
}

/** Two `**` in a row mean the same as one. */
function joinDepths(parts: Part[]): Part[] {
  return parts.filter((part, i) => part !== ANY_DEPTH || parts[i - 1] !== ANY_DEPTH);
}

function compilePart(pattern: string, part: string): Part {
  if (part === "**") return ANY_DEPTH;
  if (!/[*?[\\]/.test(part)) return part;
  const tokens = tokensOf(pattern, part);
  if (tokens.every((token) => typeof token === "string")) return tokens.join("");
  if (/(?<!\\)\*\*/.test(part))
    throw new PatternError(`"${pattern}": ** stands alone between slashes (here it is part of "${part}")`);
  return { tokens };
}

/** A pattern for one text without slashes: argument words, environment values, names. */
export function compileWord(text: string): (word: string) => boolean {
  const alternatives = expandGlobBraces(text).map((alternative) => tokensOf(text, alternative));
  return (word) => alternatives.some((tokens) => matchTokens(tokens, word));
}

function tokensOf(pattern: string, part: string): Token[] {
  const tokens: Token[] = [];
  for (let i = 0; i < part.length; i++) {
    const c = part[i]!;
    if (c === "*") {
      if (tokens.at(-1) !== STAR) tokens.push(STAR);
    } else if (c === "?") tokens.push(ONE);
    else if (c === "[") {
      const { set, end } = characterSet(pattern, part, i);
      tokens.push(set);
      i = end;
    } else if (c === "\\" && i + 1 < part.length) pushText(tokens, part[++i]!);
    else pushText(tokens, c);
  }
  return tokens;
}

function characterSet(pattern: string, part: string, open: number): { set: CharacterSet; end: number } {
  let at = open + 1;
  const negated = part[at] === "!" || part[at] === "^";
  if (negated) at++;
  const ranges: [number, number][] = [];
  for (let first = true; at < part.length && (first || part[at] !== "]"); first = false) {
    const from = part.charCodeAt(at);
    const ranged = part[at + 1] === "-" && at + 2 < part.length && part[at + 2] !== "]";
    const to = ranged ? part.charCodeAt(at + 2) : from;
    if (to < from) throw new PatternError(`"${pattern}": the range ${part.slice(at, at + 3)} is backwards`);
    ranges.push([from, to]);
    at += ranged ? 3 : 1;
  }
  if (at >= part.length) throw new PatternError(`"${pattern}": a [ is never closed`);
  return { set: { negated, ranges }, end: at };
}

// ---------------------------------------------------------------- matching

/** The components of a canonical path. */
export function split(path: string): string[] {
  return path === "/" ? [] : path.slice(1).split("/");
}

export function matchGlob(glob: Glob, components: readonly string[]): boolean {
  return matchParts(glob.parts, components);
}

/**
 * True when a pattern matches something below this folder because of the folder's place: moving the folder
 * would take it out of the pattern's reach. A leading ** matches anywhere, so it does not count.
 */
export function reachesBelow({ parts }: Glob, folder: readonly string[]): boolean {
  const anchored = parts[0] === ANY_DEPTH ? 2 : 0;
  return statesAfter(parts, folder).some((s) => s >= anchored && s < parts.length);
}

/** True when a pattern may match something below this folder. */
export function mayMatchBelow({ parts }: Glob, folder: readonly string[]): boolean {
  return statesAfter(parts, folder).some((s) => s < parts.length);
}

/** How far the pattern may have come when it has matched all components. */
function statesAfter(parts: readonly Part[], components: readonly string[]): readonly number[] {
  let states = closure(parts, [0]);
  for (const component of components) {
    const next: number[] = [];
    for (const s of states) {
      const part = parts[s];
      if (part === ANY_DEPTH) next.push(s);
      else if (part !== undefined && matchPart(part, component)) next.push(s + 1);
    }
    states = closure(parts, next);
  }
  return states;
}

/** A ** may also match nothing. */
function closure(parts: readonly Part[], states: number[]): number[] {
  const all = new Set(states);
  for (const s of all) if (parts[s] === ANY_DEPTH) all.add(s + 1);
  return [...all];
}
