/** A word, a string or a symbol of a script. */
export interface Token {
  readonly kind: "name" | "string" | "symbol";
  readonly text: string;
  readonly line: number;
}

const LONG = /^\[(=*)\[/;
const NAME = /^[A-Za-z_]\w*/;
const SYMBOL = /^(?:==|~=|<=|>=|\.\.\.|\.\.|::|\/\/|<<|>>|[^\s])/;
const NUMBER = /^(?:0[xX][\dA-Fa-f.]+(?:[pP][+-]?\d+)?|\d[\d.]*(?:[eE][+-]?\d+)?)/;

/** The words of a script that has already been compiled, without comments. Escapes in strings stay as written. */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  for (let at = 0; at < source.length; ) {
    const rest = source.slice(at, at + 4096);
    const comment = rest.startsWith("--");
    const long = LONG.exec(comment ? rest.slice(2) : rest);
    let length: number;
    if (long) length = longLength(source, at + (comment ? 2 : 0), long[1]!) + (comment ? 2 : 0);
    else if (comment) length = lineLength(source, at);
    else if (rest[0] === '"' || rest[0] === "'") length = quotedLength(source, at);
    else if (/^\s/.test(rest)) length = 1;
    else length = (NAME.exec(rest) ?? NUMBER.exec(rest) ?? SYMBOL.exec(rest))![0].length;
    const text = source.slice(at, at + length);
    if (!comment && text.trim() !== "") tokens.push({ ...tokenOf(text, long), line });
    line += text.split("\n").length - 1;
    at += length;
  }
  return tokens;
}

function tokenOf(text: string, long: RegExpExecArray | null): Omit<Token, "line"> {
  if (long) return { kind: "string", text: text.slice(long[0].length, -long[0].length) };
  if (text[0] === '"' || text[0] === "'") return { kind: "string", text: text.slice(1, -1) };
  return { kind: NAME.test(text) ? "name" : "symbol", text };
}

function longLength(source: string, at: number, level: string): number {
  const close = `]${level}]`;
  const end = source.indexOf(close, at);
  return (end < 0 ? source.length : end + close.length) - at;
}

function lineLength(source: string, at: number): number {
  const end = source.indexOf("\n", at);
  return (end < 0 ? source.length : end) - at;
}

function quotedLength(source: string, at: number): number {
  let end = at + 1;
  while (end < source.length && source[end] !== source[at]) end += source[end] === "\\" ? 2 : 1;
  return end + 1 - at;
}
