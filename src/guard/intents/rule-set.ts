import type { IntentRule } from "./rule.js";
import { KEY, startsOf } from "./starts.js";

export interface Hit {
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
  readonly anywhere: readonly IntentRule[];
}

/**
 * Many rules matched in one pass: at the start of each word only those are tried that can begin with its letters. Rules that
 * can begin with anything are searched for one by one.
 */
export class RuleSet {
  readonly #rules: readonly IntentRule[];
  #index: Index | undefined;

  constructor(rules: readonly IntentRule[]) {
    this.#rules = rules;
  }

  /** Calls back for each match until the callback says that it needs no more of this rule. */
  match(text: string, found: (hit: Hit) => "more" | "enough"): void {
    // Made when it is first needed: most runs of the guard judge no prose.
    this.#index ??= indexOf(this.#rules);
    const { byStart, anywhere } = this.#index;
    atWords(text, byStart, found);
    for (const rule of anywhere)
      for (const { 0: match, index } of text.matchAll(rule.pattern))
        if (found({ rule, start: index, end: index + match.length }) === "enough") break;
  }
}

/** What cannot match inside of a word. All alternatives must be so. */
const AT_WORD = /^(?:\(\?<!\[(?:a-z0-9|\\w)[^\]]*\]\)|\\b)/;

/** Rules are in several sets, and reading a pattern takes longer than matching it. */
const STARTS = new WeakMap<
  IntentRule,
  { readonly starts: ReadonlySet<string> | undefined; readonly entry: Entry }
>();

function startsAndEntry(rule: IntentRule) {
  const known = STARTS.get(rule);
  if (known) return known;
  const { source } = rule.pattern;
  const starts = AT_WORD.test(source) ? startsOf(rule.pattern) : undefined;
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
  return { byStart, anywhere };
}

function atWords(text: string, byStart: Index["byStart"], found: (hit: Hit) => "more" | "enough"): void {
  /** Where a rule may match again. */
  const from = new Map<IntentRule, number>();
  for (let at = 0; at < text.length; at++) {
    if (!isWord(text.charCodeAt(at)) || (at > 0 && isWord(text.charCodeAt(at - 1)))) continue;
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
