import type { Action, Span } from "../finding.js";
import { deciphered } from "../reading/cipher.js";
import { decodings } from "../reading/decode.js";
import {
  latinView,
  leetView,
  nativeView,
  squeezedView,
  type TextView,
  unjoinedView,
} from "../reading/fold.js";
import { selectorText, tagText } from "../reading/invisible.js";
import { correctedViews } from "../reading/typos.js";
import { COMMANDS } from "./commands.js";
import { COMPACT, COMPACT_WORDS } from "./compact.js";
import { isInCodeBlock, meaning } from "./context.js";
import { ENGLISH } from "./english.js";
import { imperatives } from "./imperatives.js";
import { LATIN_LANGUAGES, OTHER_SCRIPTS } from "./languages.js";
import { LATIN_OUTSIDE, OTHER_OUTSIDE } from "./languages-outside.js";
import { MODEL_MARKUP } from "./model-markup.js";
import { OUTSIDE_RULES } from "./outside-text.js";
import type { IntentRule } from "./rule.js";
import { IntentRuleSet } from "./rule-set.js";
import { spokenOrders } from "./spoken-orders.js";

/** Something that a text wants of the agent that reads it. */
export interface TextIntent extends Span {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
  /** The words as they were understood. */
  readonly words: string;
}

/** Encodings inside encodings: no reader unpacks more than this. */
const NESTING = 2;

/**
 * Who wrote the text. Text from `outside` (a page, a mail, a tool's result) should not address the agent at all.
 * Words of the user, another agent or a skill are meant for it.
 */
type Origin = "outside" | "addressed";

const OWN = new IntentRuleSet(ENGLISH);
const PLAIN = new IntentRuleSet([...ENGLISH, ...COMMANDS, ...LATIN_LANGUAGES]);
/** Misspellings that evade rules, as opposed to mistakes. */
const MISSPELT = new IntentRuleSet(
  ENGLISH.filter(({ rule }) => /^(?:ignore-instructions|reveal-prompt|new-role|conceal)$/.test(rule)),
);
const FOREIGN = new IntentRuleSet(OTHER_SCRIPTS);
const UNADDRESSED = new IntentRuleSet([...OUTSIDE_RULES, ...MODEL_MARKUP, ...LATIN_OUTSIDE]);
const UNADDRESSED_FOREIGN = new IntentRuleSet(OTHER_OUTSIDE);

/**
 * What a text wants, in every disguise: look-alike letters, invisible characters, leetspeak, spaced out, encoded,
 * backwards, or in another language.
 */
export function intentsOf(text: string, origin: Origin = "addressed", more?: IntentRuleSet): TextIntent[] {
  const outside = origin === "outside";
  const found = readings(
    text,
    {
      plain: [PLAIN, ...(outside ? [UNADDRESSED] : []), ...(more ? [more] : [])],
      foreign: outside ? [FOREIGN, UNADDRESSED_FOREIGN] : [FOREIGN],
    },
    0,
  );
  if (outside) found.push(...orders(latinView(text)));
  const unique = new Map<string, TextIntent>();
  for (const intent of found) {
    const key = intent.rule;
    const known = unique.get(key);
    if (!known || STRICTNESS[intent.action] > STRICTNESS[known.action]) unique.set(key, intent);
  }
  return [...unique.values()];
}

/** Orders to a model in words that no rule knows. */
function orders({ text, origin }: TextView): TextIntent[] {
  const span = spokenOrders(text) ?? imperatives(text);
  if (!span || isInCodeBlock(text, span.start)) return [];
  return [
    {
      rule: "speaks-to-agent",
      action: "ask",
      reason: "This text from outside seems to give orders to the agent that reads it.",
      words: text.slice(span.start, span.start + 120),
      start: origin(span.start),
      end: origin(span.end),
    },
  ];
}

const STRICTNESS: Readonly<Record<Action, number>> = { allow: 0, ask: 1, deny: 2 };
/** Letters of scripts that have their own rules. */
const OTHER_SCRIPT = /[\u0370-\u1fff\u2e80-\ud7ff\uf900-\ufdff\ufe70-\ufefc]/;

interface Sets {
  readonly plain: readonly IntentRuleSet[];
  /** For text in other scripts than Latin. */
  readonly foreign: readonly IntentRuleSet[];
}

function readings(text: string, sets: Sets, depth: number): TextIntent[] {
  const latin = latinView(text);
  const found = sets.plain.flatMap((set) => match(latin, set, "plain"));
  if (OTHER_SCRIPT.test(text)) {
    const native = nativeView(text);
    found.push(...sets.foreign.flatMap((set) => match(native, set, "plain")));
  }
  for (const view of [leetView(latin, "i"), leetView(latin, "l"), unjoinedView(latin)])
    if (view) found.push(...match(view, OWN, "disguised"));
  for (const view of correctedViews(latin)) found.push(...match(view, MISSPELT, "disguised"));
  found.push(...squeezed(latin), ...lettered(latin));
  return depth < NESTING ? [...found, ...hidden(text, sets, depth)] : found;
}

/** Intents that are dangerous even when quoted. All others are harmless in a quotation. */
const USABLE = new Set(["send-secret", "exfiltrate", "harvest-credentials", "tool-poisoning"]);

/** `disguised` text has no innocent explanation in its context. */
function match(view: TextView, rules: IntentRuleSet, how: "plain" | "disguised"): TextIntent[] {
  const found: TextIntent[] = [];
  rules.match(view.text, ({ rule, start, end }) => {
    const words = view.text.slice(start, end);
    if (isExcused(rule, view.text, start, end)) return "more";
    const meant = rule.always ? "meant" : meaning(view, start, end);
    if (meant === "denied") return "more";
    const action = meant === "meant" ? rule.action : USABLE.has(rule.rule) ? "ask" : "allow";
    if (how === "disguised" && action === "allow") return "more";
    found.push({
      rule: rule.rule,
      action,
      reason: meant === "mentioned" ? `${rule.reason} It seems to be quoted.` : rule.reason,
      words: words.slice(0, 120),
      start: view.origin(start),
      end: Math.max(view.origin(end), view.origin(start) + 1),
    });
    return action === "allow" ? "more" : "enough";
  });
  return found;
}

function isExcused({ unless, unlessAfter, notInCode }: IntentRule, text: string, start: number, end: number) {
  const after = /^[^\n]{0,80}/.exec(text.slice(end, end + 80))![0];
  return (
    unless?.test(text.slice(start, end) + after) ||
    unlessAfter?.test(text.slice(Math.max(0, start - 40), start)) ||
    (notInCode && isInCodeBlock(text, start))
  );
}

/** Without spaces there are no words to match: a few phrases that are never written together otherwise. */
function squeezed(latin: TextView): TextIntent[] {
  const view = squeezedView(latin);
  if (!view) return [];
  return [
    ...match(view, OWN, "disguised"),
    ...compact(view.text.replace(/[^a-z]/g, ""), "spaced out", 0, latin.text.length),
  ];
}

function compact(letters: string, how: string, start: number, end: number): TextIntent[] {
  return COMPACT.filter(({ pattern }) => pattern.test(letters)).map(({ rule, reason }) => ({
    rule,
    action: "deny",
    reason: `${reason} It is written ${how}.`,
    words: letters.slice(0, 120),
    start,
    end,
  }));
}

const LONGEST_CIPHER = 100_000;

/** In a simple cipher, or with spaces in the wrong places. */
function lettered(latin: TextView): TextIntent[] {
  const { text } = latin;
  if (text.length < 16 || text.length > LONGEST_CIPHER) return [];
  const letters = text.replace(/[^a-z]/g, "");
  return [
    ...deciphered(letters).flatMap(({ how, letters: plain }) => compact(plain, how, 0, text.length)),
    ...respaced(latin, letters),
  ];
}

/** Words that are split or run together. Where the spaces are right, the other rules have read the text. */
function respaced(latin: TextView, letters: string): TextIntent[] {
  return COMPACT.flatMap(({ rule, reason, pattern }) => {
    const match = pattern.exec(letters);
    if (!match) return [];
    const slice = lettersBetween(latin.text, match.index, match.index + match[0].length);
    const words = slice.text.split(/[^a-z]+/).filter(Boolean);
    if (words.every((word) => COMPACT_WORDS.has(word))) return [];
    const length = match[0].length / words.length;
    if (length > 4.6 && length < 14) return [];
    const how = length < 14 ? "with spaces inside its words" : "without spaces";
    const [start, end] = [latin.origin(slice.start), latin.origin(slice.end)];
    return [
      {
        rule,
        action: "deny" as const,
        reason: `${reason} It is written ${how}.`,
        words: slice.text,
        start,
        end,
      },
    ];
  });
}

/** The part of a text from its n-th letter up to its m-th. */
function lettersBetween(text: string, from: number, to: number) {
  let start = -1;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c < 97 || c > 122) continue;
    if (count === from) start = at;
    if (++count === to) return { start, end: at + 1, text: text.slice(start, at + 1) };
  }
  return { start: 0, end: text.length, text };
}

/** Encoded text inside the text is judged too; that it is hidden makes it more suspicious. */
function hidden(text: string, sets: Sets, depth: number): TextIntent[] {
  const pieces = decodings(text);
  const invisible = [
    { how: "tag characters", text: tagText(text), start: 0, end: text.length },
    { how: "variation selectors", text: selectorText(text), start: 0, end: text.length },
  ].filter((piece) => piece.text.length >= 4);
  return [...pieces, ...invisible].flatMap((piece) =>
    readings(piece.text, sets, depth + 1)
      .filter(({ action }) => action !== "allow")
      .map((intent) => ({
        ...intent,
        action: "deny" as const,
        reason: `${intent.reason} It is hidden in ${piece.how}.`,
        start: piece.start,
        end: piece.end,
      })),
  );
}
