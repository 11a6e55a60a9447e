/** Brace expansion of a word as written: `{a,b}c` and `{1..3}`. The shell expands braces first, so quotes are kept. */
export function expandShellBraces(text: string, limit: number): string[] {
  const open = findBrace(text, 0);
  if (open === undefined) return [text];
  const { start, end, alternatives } = open;
  const prefix = text.slice(0, start);
  const rests = expandShellBraces(text.slice(end + 1), limit);
  const results: string[] = [];
  for (const alternative of alternatives)
    for (const middle of expandShellBraces(alternative, limit))
      for (const rest of rests) {
        if (results.length >= limit) return results;
        results.push(prefix + middle + rest);
      }
  return results;
}

interface Brace {
  readonly start: number;
  readonly end: number;
  readonly alternatives: readonly string[];
}

/** The first brace that expands. */
function findBrace(text: string, from: number): Brace | undefined {
  for (let start = from; start < text.length; start++) {
    const skipped = skipQuoted(text, start);
    if (skipped > start) {
      start = skipped;
      continue;
    }
    if (text[start] !== "{" || text[start - 1] === "$") continue;
    const brace = closeBrace(text, start);
    if (brace) return brace;
  }
  return undefined;
}

function closeBrace(text: string, start: number): Brace | undefined {
  const commas: number[] = [];
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    const skipped = skipQuoted(text, i);
    if (skipped > i) {
      i = skipped;
      continue;
    }
    const character = text[i];
    if (character === "{") depth++;
    else if (character === "," && depth === 1) commas.push(i);
    else if (character === "}" && --depth === 0) {
      const ends = [...commas, i];
      const parts = ends.map((end, n) => text.slice((n === 0 ? start : ends[n - 1]!) + 1, end));
      const alternatives = commas.length > 0 ? parts : sequence(parts[0]!);
      return alternatives && { start, end: i, alternatives };
    }
  }
  return undefined;
}

/** The index of the last character of the quotation that starts at i; i itself when none starts there. */
function skipQuoted(text: string, i: number): number {
  if (text[i] === "\\") return i + 1;
  if (text[i] !== "'" && text[i] !== '"') return i;
  const end = text.indexOf(text[i]!, i + 1);
  return end < 0 ? text.length : end;
}

const SEQUENCE_AT_MOST = 100;

/** `1..5`, `a..e`, `1..9..2` */
function sequence(text: string): string[] | undefined {
  const match = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(text);
  if (!match) return undefined;
  const [, first, last, by] = match as unknown as [string, string, string, string | undefined];
  const letters = /[A-Za-z]/.test(first);
  if (letters !== /[A-Za-z]/.test(last)) return undefined;
  const value = (end: string) => (letters ? end.charCodeAt(0) : Number(end));
  const step = Math.max(1, Math.abs(Number(by ?? 1))) * (value(first) <= value(last) ? 1 : -1);
  const count = Math.min(SEQUENCE_AT_MOST, Math.floor((value(last) - value(first)) / step) + 1);
  return Array.from({ length: count }, (_, i) => {
    const n = value(first) + i * step;
    return letters ? String.fromCharCode(n) : String(n);
  });
}
