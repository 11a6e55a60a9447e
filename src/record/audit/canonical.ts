import { createHash } from "node:crypto";
import { namesSecret } from "../../intent/guard/credentials/names.js";
import { redact } from "../../intent/guard/credentials/secrets.js";

/** Longer texts are cut, and replaced by their hash. */
const LONGEST_TEXT = 64 * 1024;
const LONGEST_BODY = 1024 * 1024;
const DEEPEST = 64;

/** Parts of texts that were taken out begin so: what has them cannot be judged again. */
export const REDACTED = "[redacted: ";
export const CUT = "[cut: ";

/**
 * A body as text: without secrets, bounded, and the same for the same content (keys in order, as RFC 8785 has them).
 * It is cut after secrets were taken out, so that no half of one is left at the end.
 */
export function canonicalBody(body: unknown): string {
  const text = JSON.stringify(plain(body, 0)) ?? "null";
  return text.length <= LONGEST_BODY ? text : JSON.stringify({ cut: cutNote(text) });
}

function plain(value: unknown, depth: number): unknown {
  if (depth > DEEPEST) return `${CUT}nested too deep]`;
  if (typeof value === "string") return bounded(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item, i) => entry(option(value[i - 1]), item, depth + 1));
  if (value instanceof Uint8Array) return plain(Buffer.from(value).toString("latin1"), depth);
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .map(([key, inner]) => [bounded(key), entry(key, inner, depth + 1)] as const);
  // Not by locale: the order must be the same everywhere.
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** `["--password", "…"]`: the word before names it. */
function option(word: unknown): string {
  return typeof word === "string" && /^--?[\w-]{1,80}$/.test(word) ? word : "";
}

/** `{ "API_KEY": "…" }`: only the name says that the value is a secret. */
function entry(key: string, value: unknown, depth: number): unknown {
  return typeof value === "string" && value !== "" && namesSecret(key)
    ? `${REDACTED}keyed-secret]`
    : plain(value, depth);
}

/** Looks for secrets a good deal farther than it keeps. */
function bounded(text: string): string {
  const clean = redact(text.slice(0, 2 * LONGEST_TEXT)).text;
  return text.length <= LONGEST_TEXT ? clean : `${clean.slice(0, LONGEST_TEXT)}${cutNote(text)}`;
}

function cutNote(text: string): string {
  const hash = createHash("sha256").update(JSON.stringify(text)).digest("hex");
  return `${CUT}${text.length} characters, sha256 ${hash}]`;
}
