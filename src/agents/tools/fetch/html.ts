/**
 * The readable text of a page, in one pass and in linear time. No browser: nothing is fetched, run or laid out. Content
 * that a page hides from people (scripts, hidden elements, comments) is also hidden from agents.
 */
export function readableText(html: string): string {
  const page = new Page();
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf("<", at);
    if (open !== at) page.text(html.slice(at, open < 0 ? html.length : open));
    if (open < 0) break;
    at = tag(html, open, page);
  }
  return page.whole();
}

const UNSEEN = new Set(
  "script style noscript template svg math iframe object canvas select datalist dialog".split(" "),
);
const BLOCK = new Set(
  "p div section article main aside header footer nav ul ol dl dt dd table tr form fieldset figure figcaption blockquote pre hr br h1 h2 h3 h4 h5 h6 li title address details summary".split(
    " ",
  ),
);
const VOID = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));
const OPEN_ENDED = new Set("p li dt dd tr td th option".split(" "));

/** Continues after the tag, the comment, or the `<` that starts neither. */
function tag(html: string, open: number, page: Page): number {
  if (html.startsWith("<!--", open)) return after(html, "-->", open + 4);
  const name = /[a-z][a-z0-9-]*/iy;
  const closing = html[open + 1] === "/";
  name.lastIndex = open + (closing ? 2 : 1);
  const word = name.exec(html)?.[0].toLowerCase();
  if (word === undefined) {
    if (!/[!?/]/.test(html[open + 1] ?? "")) page.text("<");
    return /[!?/]/.test(html[open + 1] ?? "") ? after(html, ">", open) : open + 1;
  }
  const end = endOfTag(html, name.lastIndex);
  const attributes = html.slice(name.lastIndex, end - 1);
  if (closing) page.close(word);
  else page.open(word, attributes);
  if (closing || (word !== "script" && word !== "style")) return end;
  const close = new RegExp(`</${word}`, "gi");
  close.lastIndex = end;
  return close.exec(html)?.index ?? html.length;
}

function after(html: string, sign: string, from: number): number {
  const at = html.indexOf(sign, from);
  return at < 0 ? html.length : at + sign.length;
}

/** A `>` inside quotes does not end the tag. */
function endOfTag(html: string, from: number): number {
  let quote = "";
  for (let at = from; at < html.length; at++) {
    const sign = html[at]!;
    if (quote !== "") quote = sign === quote ? "" : quote;
    else if (sign === ">") return at + 1;
    else if (sign === '"' || sign === "'") quote = sign;
  }
  return html.length;
}

const HIDDEN =
  /(?:^|\s)hidden(?:\s|=|$)|aria-hidden\s*=\s*["']?true|style\s*=\s*["'][^"']{0,500}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d]))/i;

/** The text so far. */
class Page {
  readonly #out: string[] = [];
  /** Inside a hidden element: its name, and how many elements of that name are open. */
  #unseen: { name: string; depth: number } | undefined;
  #preserve = 0;
  readonly #links: (string | undefined)[] = [];

  open(name: string, attributes: string): void {
    // An element with an optional end tag is closed by the next element of its kind.
    if (this.#unseen?.name === name && OPEN_ENDED.has(name)) this.#unseen = undefined;
    if (this.#unseen) {
      if (this.#unseen.name === name) this.#unseen.depth++;
      return;
    }
    if (!VOID.has(name) && (UNSEEN.has(name) || HIDDEN.test(attributes.slice(0, 2000)))) {
      this.#unseen = { name, depth: 1 };
      return;
    }
    if (BLOCK.has(name)) this.#out.push("\n");
    if (/^h[1-6]$/.test(name)) this.#out.push(`\n${"#".repeat(Number(name[1]))} `);
    if (name === "li") this.#out.push("- ");
    if (name === "td" || name === "th") this.#out.push(" | ");
    if (name === "pre") this.#preserve++;
    if (name === "img") this.#put(attribute(attributes, "alt") ?? "");
    if (name === "a") this.#openLink(attribute(attributes, "href"));
  }

  close(name: string): void {
    if (this.#unseen) {
      if (this.#unseen.name === name && --this.#unseen.depth === 0) this.#unseen = undefined;
      return;
    }
    if (name === "a") this.#closeLink();
    if (name === "pre" && this.#preserve > 0) this.#preserve--;
    if (BLOCK.has(name)) this.#out.push("\n");
  }

  text(text: string): void {
    if (!this.#unseen) this.#put(decoded(text));
  }

  #put(text: string): void {
    this.#out.push(this.#preserve > 0 ? text : text.replace(/\s+/g, " "));
  }

  #openLink(href: string | undefined): void {
    const shown = href !== undefined && !/^\s*(?:#|javascript:|data:)/i.test(href) ? href : undefined;
    this.#links.push(shown);
    if (shown !== undefined) this.#out.push("[");
  }

  #closeLink(): void {
    const href = this.#links.pop();
    if (href !== undefined) this.#out.push(`](${href.trim().slice(0, 500)})`);
  }

  whole(): string {
    while (this.#links.length > 0) this.#closeLink();
    return this.#out
      .join("")
      .split("\n")
      .map((line) => line.trimEnd())
      .map((line) => (/^ \S/.test(line) ? line.slice(1) : line))
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim();
  }
}

function attribute(attributes: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(
    attributes,
  );
  const value = found && (found[1] ?? found[2] ?? found[3]);
  return value === null || value === undefined ? undefined : decoded(value);
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  reg: "®",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  bull: "•",
  middot: "·",
  times: "×",
  euro: "€",
  auml: "ä",
  ouml: "ö",
  uuml: "ü",
  Auml: "Ä",
  Ouml: "Ö",
  Uuml: "Ü",
  szlig: "ß",
  eacute: "é",
  rarr: "→",
  larr: "←",
};

function decoded(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));?/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = Number.parseInt(hex ?? decimal, hex === undefined ? 10 : 16);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "";
  });
}
