import { mayNameKey, namesSecret, wordsOf } from "./names.js";
import type { Secret } from "./secrets.js";
import { changes, count, entropy, hasRandomRun, isCodeExpression, isPlaceholder } from "./value-shapes.js";
import { namesVendor } from "./vendors.js";

/** Words that names of credentials are made of. A plain search finds them; bounded code reads the text around a hit. */
const KEYWORD =
  /pass(?:w(?:or)?d|phrase|code|\b|_)|pwd|secret|token|api.?key|apikey|(?:access|private|signing|encryption|auth|account|master|service|deploy|session|role).?key|credential|(?<=[a-z0-9][_.-])auth(?=["'`\]]?\s{0,4}[:=])|mnemonic|seed.phrase|(?<=[a-z0-9][_.-]?)key\b|\bkey\b/gi;
const LONGEST_NAME = 80;
const LONGEST_VALUE = 2048;

/** `password: …`, `API_KEY=…`, `--token …`, `"client_secret": "…"`. Only the value is the secret. */
export function* keyedSecrets(text: string): Iterable<Secret> {
  let done = 0;
  for (const match of text.matchAll(KEYWORD)) {
    if (match.index < done) continue;
    const name = nameAround(text, match.index, match.index + match[0].length);
    done = name.end;
    // `pass` alone is also a verb: only a value that looks like a password counts.
    const loosely = /^(?:pass|pwd)$/i.test(name.text);
    const named = namesSecret(name.text) || /seed.phrase/i.test(match[0]);
    if (!loosely && !named && !mayNameKey(name.text)) continue;
    const value = valueAfter(text, name);
    if (!value) continue;
    const secret = named || loosely ? isSecretValue(value, name.text) : isKeyValue(value, name, text);
    if (!secret || (loosely && !isStrong(value.text))) continue;
    done = value.end;
    yield {
      rule: "keyed-secret",
      what: `the value of ${name.text}`,
      start: value.start,
      end: value.end,
      certain: certainly(value),
    };
  }
}

interface Name {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

interface Value {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
  /** NAME=value without spaces, as in an environment file. */
  readonly environment: boolean;
}

function nameAround(text: string, from: number, to: number): Name {
  let start = from;
  while (start > 0 && from - start < LONGEST_NAME && /[\w.-]/.test(text[start - 1]!)) start--;
  let end = to;
  while (end < text.length && end - to < LONGEST_NAME && /[\w-]/.test(text[end]!)) end++;
  return { text: text.slice(start, end).replace(/^[-.]+|[-.]+$/g, ""), start, end };
}

const SEPARATOR =
  /["'`\]]?[ \t]{0,4}(?::=|=>|=(?!=)|:(?!:)|\b(?:is|was)\b:?)[ \t]{0,8}|["'][ \t]{1,3}value[ \t]?=[ \t]?/y;

function valueAfter(text: string, name: Name): Value | undefined {
  SEPARATOR.lastIndex = name.end;
  const separator = SEPARATOR.exec(text)?.[0] ?? (text.startsWith("--", name.start) ? " " : undefined);
  if (separator === undefined || !text.startsWith(separator, name.end)) return undefined;
  let start = name.end + separator.length;
  const quote = /["'`]/.exec(text[start] ?? "")?.[0];
  const environment = separator === "=" && /^[A-Z][A-Z0-9_]*$/.test(name.text);
  if (quote === undefined) {
    const rest = /[^\s,;&"'`<>|]{1,2048}/y;
    rest.lastIndex = start;
    const match = rest.exec(text);
    return match ? { text: match[0], start, end: rest.lastIndex, quoted: false, environment } : undefined;
  }
  start++;
  const line = text.slice(start, start + LONGEST_VALUE);
  const end = line.indexOf(quote);
  if (end < 0 || line.slice(0, end).includes("\n")) return undefined;
  return { text: line.slice(0, end), start, end: start + end, quoted: true, environment };
}

const PASSWORD = /pass|pwd|pin\b/i;

function isSecretValue({ text, quoted, environment }: Value, name: string): boolean {
  if (text.length < 6 || isPlaceholder(text) || /\s/.test(text)) return false;
  if (!quoted && isCodeExpression(text) && !hasRandomRun(text)) return false;
  if (/^(?:https?:|\/[\w./-]*$|\.\.?\/|~\/|[A-Z]:\\|file:|[\w.-]+(?:\/[\w.-]+)+\.[a-z0-9]{2,5}$)/i.test(text))
    return false;
  const digits = /\d/.test(text);
  const letters = /[A-Za-z]/.test(text);
  if (PASSWORD.test(name))
    return environment
      ? !/^[a-z_-]+$/i.test(text) || text.length >= 10
      : (digits && letters) || (/[^\w.-]/.test(text) && letters && quoted);
  if (/^[A-Za-z_.-]+$/.test(text))
    return environment && text.length >= 16 && entropy(text) > 3.5 && !/[_.-]/.test(text);
  return text.length >= 10 && digits && entropy(text) >= 2.8;
}

/** How far before a bare `key:` the service's name may be. */
const BEFORE = 40;

/**
 * `<something>_key` can be anything: a cache key, a sort key. It is a secret when the name, or the text before it,
 * names a service and the value is no word; or when the value looks random.
 */
function isKeyValue({ text: value, quoted }: Value, { text: name, start }: Name, text: string): boolean {
  if (value.length < 14 || isPlaceholder(value) || !/^[\w.~+/=:-]+$/.test(value)) return false;
  if (!quoted && isCodeExpression(value) && !hasRandomRun(value)) return false;
  if (/^(?:https?:|\/|\.\.?\/|~\/)/i.test(value) || !/\d/.test(value)) return false;
  const before = text.slice(Math.max(0, start - BEFORE), start);
  if (namesVendor(wordsOf(name).join(" ")) || namesVendor(before))
    return entropy(value) >= 2.6 && !WORDS.test(value);
  if (PREFIXED.test(value) && isMixed(value) && hasRandomRun(value)) return true;
  if (/^key$/i.test(name)) return false;
  return /^[0-9a-f-]+$/i.test(value) ? isLongHex(value) && !OF_CONTENT.test(name) : isRandomWord(value);
}

const isLongHex = (value: string) =>
  /^[0-9a-f]{32,64}$/i.test(value) && /[a-f]/i.test(value) && count(value, /\d+/g) >= 6;
/** Keys that are digests of something. */
const OF_CONTENT =
  /(?:git|cache|hash|digest|md5|sha\d*|sum|etag|sort|row|object|file|asset|build|dedup\w*|idempotency|partition|shard|block|commit|content|group|store|storage|layer|image|chunk|node|tree|trace|span|request|event|message|query|lookup|index|primary|foreign|unique|public|host|map|entry|record|item)[_.-]?key$/i;

/** How services without a word of their own write their keys: `fw_…`, `ak-…`. */
const PREFIXED = /^[a-z]{2,8}[_-](?:[a-z]{2,8}[_-])?[A-Za-z0-9]{18,}$/;
const isMixed = (text: string) => /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text);

/** `home.header.title_v2`, `linux-x64-node20`: words with a number at the end. */
const WORDS = /^[a-z]{3,}(?:[._/:-][a-z]*\d{0,6}[a-z]*){1,8}$/i;

/** Random text switches often between letters and digits. */
function isRandomWord(value: string): boolean {
  return (
    value.length >= 20 &&
    count(value, /\d+/g) >= 4 &&
    changes(value) > value.length * 0.3 &&
    entropy(value) > 3.2
  );
}

function isStrong(text: string): boolean {
  return (
    text.length >= 8 && /\d/.test(text) && /[A-Z]/.test(text) && /[a-z]/.test(text) && !text.includes("/")
  );
}

function certainly({ text }: Value): boolean {
  return text.length >= 20 && entropy(text) > 3.5;
}
