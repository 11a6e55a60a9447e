/**
 * Patterns, once they are read: policies, tools and options each have a syntax, and this is what all of them become.
 * Only the last star is ever tried again, so the time is at most the product of the two lengths. That is why patterns do
 * not become regular expressions: a hostile text or pattern could make those slow.
 */
export type Token = string | typeof STAR | typeof ONE | CharacterSet;
/** Any number of characters. */
export const STAR = Symbol("*");
/** One character. */
export const ONE = Symbol("?");
export interface CharacterSet {
  readonly negated: boolean;
  readonly ranges: readonly (readonly [number, number])[];
}

/** A component of a path: a text, any number of components, or a test of one. */
export type Part = string | typeof ANY_DEPTH | Wild;
export const ANY_DEPTH = Symbol("**");
interface Wild {
  readonly tokens: readonly Token[];
}

/** Whether the parts of a pattern match all components of a path. */
export function matchParts(parts: readonly Part[], components: readonly string[]): boolean {
  let p = 0;
  let c = 0;
  let retry = -1;
  let retryAt = 0;
  while (c < components.length) {
    const part = parts[p];
    if (part === ANY_DEPTH) {
      retry = p++;
      retryAt = c;
    } else if (part !== undefined && matchPart(part, components[c]!)) {
      p++;
      c++;
    } else if (retry >= 0) {
      p = retry + 1;
      c = ++retryAt;
    } else return false;
  }
  while (parts[p] === ANY_DEPTH) p++;
  return p === parts.length;
}

export function matchPart(part: string | Wild, component: string): boolean {
  return typeof part === "string" ? part === component : matchTokens(part.tokens, component);
}

/** Whether tokens match the whole of a text. */
export function matchTokens(tokens: readonly Token[], text: string): boolean {
  let t = 0;
  let i = 0;
  let retry = -1;
  let retryAt = 0;
  for (;;) {
    const token = tokens[t];
    if (token === STAR) {
      if (t === tokens.length - 1) return true;
      retry = t++;
      retryAt = i;
      continue;
    }
    if (token === undefined && i === text.length) return true;
    const taken = token === undefined ? 0 : takes(token, text, i);
    if (taken > 0) {
      t++;
      i += taken;
    } else {
      if (retry < 0 || retryAt >= text.length) return false;
      t = retry + 1;
      i = ++retryAt;
    }
  }
}

/** How many UTF-16 units the token takes there, 0 for no match. */
function takes(token: Exclude<Token, typeof STAR>, text: string, i: number): number {
  if (typeof token === "string") return text.startsWith(token, i) ? token.length : 0;
  if (i >= text.length) return 0;
  if (token === ONE) return text.codePointAt(i)! > 0xffff ? 2 : 1;
  return isIn(token, text.charCodeAt(i)) ? 1 : 0;
}

export function isIn({ ranges, negated }: CharacterSet, code: number): boolean {
  return ranges.some(([from, to]) => code >= from && code <= to) !== negated;
}

/** Adds a text to the tokens of a pattern; neighbouring texts become one. */
export function pushText(tokens: Token[], text: string): void {
  const last = tokens.at(-1);
  if (typeof last === "string") tokens[tokens.length - 1] = last + text;
  else tokens.push(text);
}

/** A pattern of `*` (any number of characters) and `?` (one), as a test. */
export function wildcards(pattern: string): (text: string) => boolean {
  const tokens: Token[] = [];
  for (const sign of pattern)
    if (sign === "*") tokens.push(STAR);
    else if (sign === "?") tokens.push(ONE);
    else pushText(tokens, sign);
  return (text) => matchTokens(tokens, text);
}

/** Whether a pattern in which only `*` is special matches the whole of a text. */
export function starMatches(pattern: string, text: string): boolean {
  const tokens: Token[] = [];
  for (const [i, piece] of pattern.split("*").entries()) {
    if (i > 0) tokens.push(STAR);
    if (piece !== "") tokens.push(piece);
  }
  return matchTokens(tokens, text);
}
