import { HermesError } from "../../nouns/errors.js";

interface CToken {
  readonly kind: "name" | "number" | "text" | "sign" | "include" | "end";
  readonly text: string;
  readonly at: number;
}

/** Space and comments; then a word of one of the kinds below. */
const SPACE = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const WORD =
  /#[ \t]*include[ \t]*<[^>\n]*>|[A-Za-z_]\w*|0[xX][0-9a-fA-F]+|\d+|"[^"\n]*"|\.\.\.|<<|[-(){}[\],;:=*|~]/y;

/** A text of declarations, word by word. */
export class CTokens {
  readonly #file: string;
  readonly #text: string;
  readonly #tokens: CToken[] = [];
  #next = 0;

  constructor(text: string, file: string) {
    this.#file = file;
    this.#text = text;
    for (let at = skip(text, 0); at < text.length; ) {
      WORD.lastIndex = at;
      const word = WORD.exec(text)?.[0];
      if (word === undefined)
        throw this.wrong(`this sign is not expected here: ${JSON.stringify(text[at])}`, at);
      this.#tokens.push({ kind: kindOf(word), text: word, at });
      at = skip(text, at + word.length);
    }
    this.#tokens.push({ kind: "end", text: "the end of the file", at: text.length });
  }

  get position(): number {
    return this.#next;
  }

  peek(ahead = 0): CToken {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]!;
  }

  take(): CToken {
    const token = this.peek();
    if (token.kind !== "end") this.#next++;
    return token;
  }

  is(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.text === text && token.kind !== "end" && token.kind !== "text";
  }

  /** Takes it if it comes next. */
  accept(text: string): boolean {
    if (!this.is(text)) return false;
    this.#next++;
    return true;
  }

  expect(text: string): void {
    if (!this.accept(text)) throw this.wrong(`"${text}" is expected here, not ${shown(this.peek())}`);
  }

  name(what: string): string {
    const token = this.peek();
    if (token.kind !== "name") throw this.wrong(`${what} is expected here, not ${shown(token)}`);
    this.#next++;
    return token.text;
  }

  /** The words from one position to another, as they were written, those of `without` left out. */
  words(from: number, to: number, without: ReadonlySet<number>): string {
    return this.#tokens
      .slice(from, to)
      .filter((_, i) => !without.has(from + i))
      .map((token) => token.text)
      .join(" ");
  }

  wrong(message: string, at = this.peek().at): HermesError {
    const before = this.#text.slice(0, at);
    const line = before.split("\n").length;
    const column = at - before.lastIndexOf("\n");
    return new HermesError("PROTOTYPES", { file: `${this.#file}:${line}:${column}`, message });
  }
}

function shown(token: CToken): string {
  return token.kind === "end" ? token.text : `"${token.text}"`;
}

function skip(text: string, from: number): number {
  SPACE.lastIndex = from;
  SPACE.test(text);
  return SPACE.lastIndex;
}

function kindOf(word: string): CToken["kind"] {
  const code = word.charCodeAt(0);
  if (code === 0x23) return "include";
  if (code === 0x22) return "text";
  if (code >= 0x30 && code <= 0x39) return "number";
  return code === 0x5f || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) ? "name" : "sign";
}
