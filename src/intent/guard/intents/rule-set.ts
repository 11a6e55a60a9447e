import { KEY, possibleStarts } from "./possible-starts.js";
import type { IntentRule } from "./rule.js";

interface IntentHit {
  readonly rule: IntentRule;
  readonly start: number;
  readonly end: number;
}

interface Entry {
  readonly rule: IntentRule;
  readonly pattern: RegExp;
}

interface Index {
  readonly byStart: ReadonlyMap<string, readonly Entry[]>;
  /** The first two letters (of shorter keys: the one) with which any of these rules can match. Most words of a text have others. */
  readonly beginnings: ReadonlySet<string>;
  readonly anywhere: readonly IntentRule[];
}

/**
 * Matches many rules in one pass: at the start of each word, only rules that can begin with its letters are tried.
 * Rules that can begin with anything are searched one by one.
 */
export class IntentRuleSet {
  readonly #rules: readonly IntentRule[];
  #index: Index | undefined;

  constructor(rules: readonly IntentRule[]) {
    this.#rules = rules;
  }

  /** Calls back for each match until the callback wants no more of this rule. */
  match(text: string, found: (hit: IntentHit) => "more" | "enough"): void {
    // Built on first use: most runs of the guard judge no prose.
    this.#index ??= indexOf(this.#rules);
    const { anywhere } = this.#index;
    atWords(text, this.#index, found);
    for (const rule of anywhere)
      for (const { 0: match, index } of text.matchAll(rule.pattern))
        if (found({ rule, start: index, end: index + match.length }) === "enough") break;
  }
}

/** A pattern that starts like this cannot match inside a word. All alternatives must start like this. */
const AT_WORD = /^(?:\(\?<!\[(?:a-z0-9|\\w)[^\]]*\]\)|\\b)/;

/** Rules are in several sets, and parsing a pattern takes longer than matching it. */
const STARTS = new WeakMap<
  IntentRule,
  { readonly starts: ReadonlySet<string> | undefined; readonly entry: Entry }
>();

function startsAndEntry(rule: IntentRule) {
  const known = STARTS.get(rule);
  if (known) return known;
  const { source } = rule.pattern;
  const starts = AT_WORD.test(source) ? possibleStarts(rule.pattern) : undefined;
  const made = { starts, entry: { rule, pattern: new RegExp(source, "y") } };
  STARTS.set(rule, made);
  return made;
}

function indexOf(rules: readonly IntentRule[]): Index {
  const byStart = new Map<string, Entry[]>();
  const anywhere: IntentRule[] = [];
  for (const rule of rules) {
    const { starts, entry } = startsAndEntry(rule);
    if (!starts) anywhere.push(rule);
    for (const start of starts ?? []) {
      const entries = byStart.get(start);
      if (entries) entries.push(entry);
      else byStart.set(start, [entry]);
    }
  }
  return { byStart, beginnings: new Set([...byStart.keys()].map((start) => start.slice(0, 2))), anywhere };
}

function atWords(
  text: string,
  { byStart, beginnings }: Index,
  found: (hit: IntentHit) => "more" | "enough",
): void {
  /** Where each rule may match next. */
  const from = new Map<IntentRule, number>();
  for (let at = 0; at < text.length; at++) {
    if (!isWord(text.charCodeAt(at)) || (at > 0 && isWord(text.charCodeAt(at - 1)))) continue;
    if (!beginnings.has(text.slice(at, at + 2)) && !beginnings.has(text[at]!)) continue;
    for (let length = 1; length <= KEY; length++)
      for (const { rule, pattern } of byStart.get(text.slice(at, at + length)) ?? []) {
        if ((from.get(rule) ?? 0) > at) continue;
        pattern.lastIndex = at;
        const match = pattern.exec(text);
        if (!match) continue;
        const end = at + match[0].length;
        const next = found({ rule, start: at, end });
        from.set(rule, next === "enough" ? Number.POSITIVE_INFINITY : end);
      }
  }
}

function isWord(c: number): boolean {
  return (c >= 97 && c <= 122) || (c >= 48 && c <= 57);
}
