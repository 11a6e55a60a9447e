import type { Action, Span } from "../finding.js";
import { decodings, rot13 } from "../reading/decode.js";
import { latinView, leetView, nativeView, squeezedView, unjoinedView, type View } from "../reading/fold.js";
import { selectorText, tagText } from "../reading/invisible.js";
import { COMMANDS } from "./commands.js";
import { COMPACT } from "./compact.js";
import { meaning } from "./context.js";
import { ENGLISH } from "./english.js";
import { LATIN_LANGUAGES, OTHER_SCRIPTS } from "./languages.js";
import type { IntentRule } from "./rule.js";

/** Something that a text wants of the agent that reads it. */
export interface Intent extends Span {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
  /** The words as they were understood. */
  readonly words: string;
}

/** Encodings inside encodings: deeper than this nobody unpacks by reading. */
const NESTING = 2;

/**
 * What this text wants, however it is written: in look-alike letters, with invisible characters between, as leetspeak, spaced
 * out, encoded, backwards, or in another language.
 */
export function intentsOf(text: string, more: readonly IntentRule[] = []): Intent[] {
  const rules = [...ENGLISH, ...COMMANDS, ...more];
  const found = readings(text, rules, 0);
  const unique = new Map<string, Intent>();
  for (const intent of found) {
    const key = intent.rule;
    const known = unique.get(key);
    if (!known || STRICTNESS[intent.action] > STRICTNESS[known.action]) unique.set(key, intent);
  }
  return [...unique.values()];
}

const STRICTNESS: Readonly<Record<Action, number>> = { allow: 0, ask: 1, deny: 2 };

function readings(text: string, rules: readonly IntentRule[], depth: number): Intent[] {
  const latin = latinView(text);
  const found = [...match(latin, rules, "plain"), ...match(latin, LATIN_LANGUAGES, "plain")];
  if (/[^\x00-\x7f]/.test(text)) found.push(...match(nativeView(text), OTHER_SCRIPTS, "plain"));
  for (const view of [leetView(latin, "i"), leetView(latin, "l"), unjoinedView(latin)])
    if (view) found.push(...match(view, ENGLISH, "disguised"));
  found.push(...squeezed(latin), ...turned(text));
  return depth < NESTING ? [...found, ...hidden(text, rules, depth)] : found;
}

/** What is harmless when it is only quoted. Commands and destinations can be used from a quotation too. */
const WORDS_ONLY = new Set([
  "ignore-instructions",
  "new-role",
  "new-instructions",
  "reveal-prompt",
  "fake-turn",
  "conceal",
  "steer",
  "skip-approval",
]);

/** `disguised` text has no innocent explanation in its context. */
function match(view: View, rules: readonly IntentRule[], how: "plain" | "disguised"): Intent[] {
  const found: Intent[] = [];
  for (const rule of rules) {
    rule.pattern.lastIndex = 0;
    for (const hit of view.text.matchAll(rule.pattern)) {
      const end = hit.index + hit[0].length;
      if (rule.unless?.test(`${hit[0]}${/^[^\n]{0,80}/.exec(view.text.slice(end, end + 80))![0]}`)) continue;
      const meant = rule.always ? "meant" : meaning(view, hit.index, end);
      if (meant === "denied") continue;
      const action = meant === "meant" ? rule.action : WORDS_ONLY.has(rule.rule) ? "allow" : "ask";
      if (how === "disguised" && action === "allow") continue;
      found.push({
        rule: rule.rule,
        action,
        reason: meant === "mentioned" ? `${rule.reason} It seems to be quoted.` : rule.reason,
        words: hit[0].slice(0, 120),
        start: view.origin(hit.index),
        end: Math.max(view.origin(end), view.origin(hit.index) + 1),
      });
      if (action !== "allow") break;
    }
  }
  return found;
}

/** Without spaces there are no words to match: a few phrases that are never written together otherwise. */
function squeezed(latin: View): Intent[] {
  const view = squeezedView(latin);
  if (!view) return [];
  return [
    ...match(view, ENGLISH, "disguised"),
    ...compact(view.text.replace(/[^a-z]/g, ""), "spaced out", 0, latin.text.length),
  ];
}

function compact(letters: string, how: string, start: number, end: number): Intent[] {
  return COMPACT.filter(({ pattern }) => pattern.test(letters)).map(({ rule, reason }) => ({
    rule,
    action: "deny",
    reason: `${reason} It is written ${how}.`,
    words: letters.slice(0, 120),
    start,
    end,
  }));
}

/** Backwards, or in ROT13. */
function turned(text: string): Intent[] {
  if (text.length < 16 || text.length > 100_000) return [];
  const letters = text.toLowerCase().replace(/[^a-z]/g, "");
  return [
    ...compact([...letters].reverse().join(""), "backwards", 0, text.length),
    ...compact(rot13(letters), "in ROT13", 0, text.length),
  ];
}

/** What is encoded inside the text wants what it says; that it is hidden is its own reason to distrust it. */
function hidden(text: string, rules: readonly IntentRule[], depth: number): Intent[] {
  const pieces = decodings(text);
  const invisible = [
    { how: "tag characters", text: tagText(text), start: 0, end: text.length },
    { how: "variation selectors", text: selectorText(text), start: 0, end: text.length },
  ].filter((piece) => piece.text.length >= 4);
  return [...pieces, ...invisible].flatMap((piece) =>
    readings(piece.text, rules, depth + 1)
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
