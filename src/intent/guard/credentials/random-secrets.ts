import type { Secret } from "./secrets.js";
import { changes, count, decodesToText, entropy } from "./value-shapes.js";

/**
 * A random word of 32 to 128 characters of mixed kinds. Hexadecimal, UUIDs, prefixed hashes and images do not count.
 */
const WORD = /[A-Za-z0-9+/_-]{32,}={0,2}/g;
const LONGEST = 128;
/** Words before digests and public material. */
const PUBLIC_BEFORE =
  /(?:sha-?(?:1|256|384|512)[-:=]{1,2}["':]?|h1:|signature["'=:\s]{0,3}(?:label)?=?:?|keyid=["']?|challenge["'=:\s]{0,4}|integrity["'=:\s]*|base64,|ssh-[a-z0-9]{3,10} |ecdsa-[\w-]+ |nistp\d+ |checksum["'=:\s]*|digest["'=:\s]*|fingerprint["'=:\s]*|etag["'=:\s]*|nonce-|hash["'=:\s]+|sourceMappingURL=\S*|\/|\.|%|\\|#)$/i;

export function* randomSecrets(text: string): Iterable<Secret> {
  for (const match of text.matchAll(WORD)) {
    const word = match[0];
    if (word.length > LONGEST || !isRandom(word)) continue;
    const start = match.index;
    if (PUBLIC_BEFORE.test(text.slice(Math.max(0, start - 24), start))) continue;
    if (isLineOfBlock(text, start, start + word.length)) continue;
    yield {
      rule: "random-value",
      what: "a random value such as a key",
      start,
      end: start + word.length,
      certain: false,
    };
  }
}

function isRandom(word: string): boolean {
  const body = word.replace(/=+$/, "");
  // A name before a digest: `NODE_SEA_FUSE_fce680…`.
  if (/^(?:[A-Za-z]+[_-])+[0-9a-f]+$/.test(body)) return false;
  if (
    /^[0-9a-f-]+$/i.test(body) ||
    /^(?:_Z|__Z|AAAA|MII|iVBOR|R0lGOD|\/9j\/|UklGR|PHN2Zy|H4sI|JVBER|d09G)/.test(body)
  )
    return false;
  // Random text contains no words.
  if (/[a-z]{9}/.test(body)) return false;
  const upper = count(body, /[A-Z]/g);
  const lower = count(body, /[a-z]/g);
  const numbers = count(body, /[0-9]+/g);
  if (upper < 4 || lower < 4 || numbers < 3) return false;
  if (count(body, /[/_-]/g) > body.length / 12) return false;
  return changes(body) > body.length * 0.38 && entropy(body) > 4.1 && !decodesToText(body);
}

/** One of many lines of base64: a certificate, an image, an attachment. */
function isLineOfBlock(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 40), start);
  if (before !== "" && !before.endsWith("\n")) return false;
  return (
    /[A-Za-z0-9+/]{32}\r?\n$/.test(before) ||
    /^\r?\n[A-Za-z0-9+/]{16,}={0,2}(?:\s|$)/.test(text.slice(end, end + 200))
  );
}
