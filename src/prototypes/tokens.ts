import { HermesError } from "../errors.js";

export interface Token {
  readonly kind: "name" | "number" | "text" | "sign" | "include" | "end";
  readonly text: string;
  readonly at: number;
}

const PATTERN =
  /(?<space>\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<include>#[ \t]*include[ \t]*<[^>\n]*>)|(?<name>[A-Za-z_]\w*)|(?<number>0[xX][0-9a-fA-F]+|\d+)|(?<text>"[^"\n]*")|(?<sign>\.\.\.|<<|[-(){}[\],;:=*|~])/y;

/** A text of declarations, word by word. */
export class Tokens {
  readonly #file: string;
  readonly #text: string;
  readonly #tokens: Token[] = [];
  #next = 0;

  constructor(text: string, file: string) {
    this.#file = file;
    this.#text = text;
    const pattern = new RegExp(PATTERN);
    while (pattern.lastIndex < text.length) {
      const at = pattern.lastIndex;
      const groups = pattern.exec(text)?.groups;
      if (!groups) throw this.wrong(`this sign is not expected here: ${JSON.stringify(text[at])}`, at);
      const [kind, word] = Object.entries(groups).find(([, found]) => found !== undefined)!;
      if (kind !== "space") this.#tokens.push({ kind: kind as Token["kind"], text: word!, at });
    }
    this.#tokens.push({ kind: "end", text: "the end of the file", at: text.length });
  }

  get position(): number {
    return this.#next;
  }

  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]!;
  }

  take(): Token {
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

function shown(token: Token): string {
  return token.kind === "end" ? token.text : `"${token.text}"`;
}
