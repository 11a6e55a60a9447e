import { SECRET_FORMATS } from "./formats.js";
import { keyedSecrets } from "./keyed-secrets.js";
import { randomSecrets } from "./random-secrets.js";
import { STRUCTURES } from "./structures.js";

/** A secret found in a text. */
export interface Secret {
  readonly rule: string;
  readonly what: string;
  readonly start: number;
  readonly end: number;
  /** `false` when only a name or randomness suggests a secret. */
  readonly certain: boolean;
}

/** An anchor inside a longer word does not count, so a run of anchors is examined once. */
function isWord(c: number): boolean {
  return (c >= 48 && c <= 57) || (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 95 || c === 45;
}

/** The secrets of a text from left to right, without overlaps. Linear in the length of the text. */
export function findSecrets(text: string): readonly Secret[] {
  if (text.length < 8) return [];
  const found: Secret[] = [];
  for (const { rule, what, anchors, pattern } of SECRET_FORMATS)
    for (const anchor of anchors)
      for (let at = text.indexOf(anchor); at >= 0; at = text.indexOf(anchor, at + anchor.length)) {
        if (at > 0 && isWord(text.charCodeAt(at - 1))) continue;
        pattern.lastIndex = at;
        const match = pattern.exec(text);
        if (match && plausible(match[0]))
          found.push({ rule, what, start: at, end: at + match[0].length, certain: true });
      }
  for (const structure of STRUCTURES) found.push(...structure(text));
  found.push(...keyedSecrets(text), ...randomSecrets(text));
  return apart(found);
}

/** `sk-xxxxxxxxxxxxxxxxxxxxxxxx` and `ghp_your_token_here` are placeholders. */
function plausible(text: string): boolean {
  return !/x{6,}|X{6,}|0{10,}|your|YOUR|example|EXAMPLE$|\.{3}|placeholder|abcdefghijklm(?!.*\d)/.test(text);
}

/** Of overlapping findings, the certain one wins, then the longer one. */
function apart(found: Secret[]): readonly Secret[] {
  if (found.length < 2) return found;
  found.sort((a, b) => Number(b.certain) - Number(a.certain) || b.end - b.start - (a.end - a.start));
  const kept: Secret[] = [];
  const starts: number[] = [];
  for (const secret of found) {
    const i = lowerBound(starts, secret.start);
    const before = kept[i - 1];
    const after = kept[i];
    if ((before && before.end > secret.start) || (after && after.start < secret.end)) continue;
    kept.splice(i, 0, secret);
    starts.splice(i, 0, secret.start);
  }
  return kept;
}

function lowerBound(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The text with each secret replaced by its kind. */
export function redact(text: string): { readonly text: string; readonly secrets: readonly Secret[] } {
  const secrets = findSecrets(text);
  if (secrets.length === 0) return { text, secrets };
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, rule } of secrets) {
    parts.push(text.slice(at, start), `[redacted: ${rule}]`);
    at = end;
  }
  parts.push(text.slice(at));
  return { text: parts.join(""), secrets };
}
