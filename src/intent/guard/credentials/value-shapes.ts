/** Whether a value could be a secret at all, and how random it is. Everything here is linear. */

const PLACEHOLDER =
  /^(?:x+|\*+|\.{3,}|•+|-+|_+|#+|0+|1234?5?6?7?8?9?0?|<.*>?|\[.*\]?|\{.*\}?|\$.*|%.*%?|@.*)$|your|example|placeholder|redacted|change.?me|insert|replace|dummy|sample|fake|todo|x{4,}|\*{3,}|\.\.\.|…|<[^>]*>|\$\{|\{\{|foobar|not.?(?:a|set|real)|goes.?here|_here$|hunter2?$|masked|hidden|omitted|abc123$|test(?:ing)?$|^test[-_]?(?:key|token|secret|password|value)/i;
/** `token: string`, `password = None`, `secret: required`. */
const WORD =
  /^(?:none|null|nil|undefined|true|false|yes|no|on|off|string|str|text|int|integer|number|bool|boolean|any|object|bytes|optional|required|password|passwd|secret!?|token|key|value|default|empty|unset|invalid|expired|missing|hidden|auto|default|basic|bearer|inherit|write|read|read-all|write-all)$/i;
const VERSION = /^[\^~>=<v*]{0,3}\d+(?:\.[\dx*]+){1,3}(?:[-+][\w.]+)?$/;
const CODE = /^[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+$|[()[\]{}]|\benv[.[]|^!|^\\/;

/** A placeholder, a type, a version or an expression, not a value. */
export function isPlaceholder(value: string): boolean {
  return value === "" || PLACEHOLDER.test(value) || WORD.test(value) || VERSION.test(value);
}

/** Unquoted text that a program would evaluate. */
export function isCodeExpression(value: string): boolean {
  return CODE.test(value);
}

const FLAG = /^(?:|0|1|\d{1,5}|true|false|yes|no|on|off|none|null|undefined|enabled|disabled|auto)$/i;

/** Too short to be a secret: a switch, a small number, an empty text. */
export function isFlag(value: string): boolean {
  return FLAG.test(value);
}

/** Bits per character. */
export function entropy(text: string): number {
  const counts = new Map<number, number>();
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    counts.set(c, (counts.get(c) ?? 0) + 1);
  }
  let bits = 0;
  for (const n of counts.values()) bits -= (n / text.length) * Math.log2(n / text.length);
  return bits;
}

export function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/** How often the kind of character changes: seldom in words and paths, often in random text. */
export function changes(text: string): number {
  let n = 0;
  let last = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    const kind = c >= 48 && c <= 57 ? 1 : c >= 65 && c <= 90 ? 2 : c >= 97 && c <= 122 ? 3 : 4;
    if (i > 0 && kind !== last) n++;
    last = kind;
  }
  return n;
}

/** A run of letters and digits that no person would choose: long, and mixed throughout. */
export function hasRandomRun(text: string): boolean {
  return (text.match(/[A-Za-z0-9]{16,}/g) ?? []).some(
    (run) => changes(run) > run.length * 0.3 && entropy(run) > 3.4,
  );
}

/** Readable text in base64 is not a key. */
export function decodesToText(value: string): boolean {
  const bytes = Buffer.from(value, "base64");
  if (bytes.length < 8) return false;
  let printable = 0;
  for (const b of bytes) if ((b >= 32 && b < 127) || b === 9 || b === 10 || b === 13) printable++;
  return printable / bytes.length > 0.9;
}
