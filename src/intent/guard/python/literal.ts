const SIMPLE: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "\n": "",
};

interface Literal {
  readonly text: string;
  readonly bytes: boolean;
}

/** The value of one string literal in the source. */
export function parseLiteral(source: string): Literal {
  const match = /^([a-zA-Z]{0,2})("""|'''|"|')/.exec(source);
  if (!match) return { text: source, bytes: false };
  const prefix = match[1]!.toLowerCase();
  const start = match[0].length;
  const end =
    source.endsWith(match[2]!) && source.length >= start + match[2]!.length
      ? source.length - match[2]!.length
      : source.length;
  const body = source.slice(start, end);
  const bytes = prefix.includes("b");
  return { text: prefix.includes("r") ? body : withoutEscapes(body, bytes), bytes };
}

/** Escapes as Python reads them. `\N{…}` stays as it is: too few scripts hide code with it to justify the table. */
export function withoutEscapes(body: string, bytes: boolean): string {
  if (!body.includes("\\")) return body;
  return body.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(\r\n|[\s\S]))/g,
    (whole, x?: string, u?: string, long?: string, octal?: string, simple?: string) => {
      if (x !== undefined) return String.fromCharCode(Number.parseInt(x, 16));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & (bytes ? 0xff : 0x1ff));
      if (bytes && (u ?? long) !== undefined) return whole;
      if (u !== undefined) return String.fromCharCode(Number.parseInt(u, 16));
      if (long !== undefined) {
        const code = Number.parseInt(long, 16);
        return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
      }
      return SIMPLE[simple === "\r\n" ? "\n" : simple!] ?? whole;
    },
  );
}
