/** This many letters distinguish almost all words. */
export const KEY = 5;
const MOST = 2000;

/** A prefix with which a match can begin. `open`: the following part of the pattern continues it. */
interface Start {
  readonly text: string;
  readonly open: boolean;
}

const NOTHING: readonly Start[] = [{ text: "", open: true }];
/** Any character: a prefix ends before it. */
const ANYTHING: readonly Start[] = [{ text: "", open: false }];

/**
 * The prefixes of everything that a pattern can match, at most KEY letters each; undefined when it can begin with
 * anything. Reads only the regular expression syntax that our tables use. Unknown syntax counts as any character, so
 * no match is lost.
 */
export function possibleStarts(pattern: RegExp): ReadonlySet<string> | undefined {
  const starts = new Reader(pattern.source).alternatives();
  const texts = new Set(starts.map(({ text }) => text));
  return texts.size <= MOST && [...texts].every((text) => /^[a-z0-9]/.test(text)) ? texts : undefined;
}

class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  alternatives(): readonly Start[] {
    const all: Start[] = [...this.#sequence()];
    while (this.#source[this.#at] === "|") {
      this.#at++;
      all.push(...this.#sequence());
    }
    return distinct(all);
  }

  #sequence(): readonly Start[] {
    let starts = NOTHING;
    while (this.#at < this.#source.length && !"|)".includes(this.#source[this.#at]!)) {
      if (!starts.some(isShort)) {
        this.#skip();
        break;
      }
      const item = this.#repeated(this.#item());
      starts = distinct(starts.flatMap((start) => followed(start, item)));
    }
    return starts;
  }

  /** To the end of this alternative: the rest does not change how it begins. */
  #skip(): void {
    let depth = 0;
    for (; this.#at < this.#source.length; this.#at++) {
      const c = this.#source[this.#at]!;
      if (c === "\\") this.#at++;
      else if (c === "[") this.#at += this.#oneOfLength() - 1;
      else if (c === "(") depth++;
      else if (depth === 0 && (c === "|" || c === ")")) return;
      else if (c === ")") depth--;
    }
  }

  #oneOfLength(): number {
    const whole = /\[(?:\\.|[^\]\\])*\]/y;
    whole.lastIndex = this.#at;
    return whole.exec(this.#source)![0].length;
  }

  #item(): readonly Start[] {
    const c = this.#source[this.#at]!;
    if (c === "(") return this.#group();
    if (c === "[") return this.#oneOf();
    this.#at++;
    if (c === "^" || c === "$") return NOTHING;
    if (c === ".") return ANYTHING;
    if (c !== "\\") return [{ text: c, open: true }];
    const escaped = this.#source[this.#at++]!;
    if (escaped === "b") return NOTHING;
    return /[a-z0-9]/i.test(escaped) ? ANYTHING : [{ text: escaped, open: true }];
  }

  #group(): readonly Start[] {
    const head = /\(\?(?:<?[=!]|:)|\(/y;
    head.lastIndex = this.#at;
    const opened = head.exec(this.#source)![0];
    this.#at = head.lastIndex;
    const inside = this.alternatives();
    this.#at++;
    return opened === "(" || opened === "(?:" ? inside : NOTHING;
  }

  #oneOf(): readonly Start[] {
    const whole = /\[(?:\\.|[^\]\\])*\]/y;
    whole.lastIndex = this.#at;
    const letters = whole.exec(this.#source)![0].slice(1, -1);
    this.#at = whole.lastIndex;
    return /^[a-z]{1,6}$/.test(letters) ? [...letters].map((text) => ({ text, open: true })) : ANYTHING;
  }

  #repeated(item: readonly Start[]): readonly Start[] {
    const times = /(?:([?*+])|\{(\d+)(?:(,)(\d*))?\})\??/y;
    times.lastIndex = this.#at;
    const match = times.exec(this.#source);
    if (!match) return item;
    this.#at = times.lastIndex;
    const once = match[1] === "?" || (match[2] === "0" && match[4] === "1") || match[0] === "{1}";
    const kept = once ? item : item.map(({ text }) => ({ text, open: false }));
    return match[1] === "+" || (match[2] !== undefined && match[2] !== "0") ? kept : [...kept, ...NOTHING];
  }
}

const isShort = ({ text, open }: Start): boolean => open && text.length < KEY;

function followed(start: Start, item: readonly Start[]): readonly Start[] {
  if (!isShort(start)) return [start];
  return item.map(({ text, open }) => ({ text: (start.text + text).slice(0, KEY), open }));
}

function distinct(starts: readonly Start[]): readonly Start[] {
  return [...new Map(starts.map((start) => [`${start.open}${start.text}`, start])).values()];
}
