/** Headings of sections that show bad examples; real instructions do not have such headings. */
const STRONG =
  /\b(?:malicious|attackers?|attacks?|exploits?|suspicious|red flags?|anti-?patterns?|unsafe|insecure|vulnerab\w+|refuse[sd]?|prompt injections?|indicators? of compromise|iocs?|jailbreaks?|malware|never (?:run|execute|use|do|install|paste|trust|allow)|(?:do not|don't|avoid) (?:run|execut|us|install|past|trust|follow)\w{0,4}|what (?:it|this) (?:catches|detects|finds)|forbidden|prohibited|disallowed|blocked|rejected|denied|flagged)\b|[\u274c\u{1f6ab}]/iu;
/** The same for documents about security. Elsewhere these words mean something else. */
const WEAK =
  /\b(?:detect\w*|payloads?|patterns?|tests?|flags?|blocks?|rejects?|recogni[sz]e\w*|risks?|dangerous|examples?|such as|like|typical|signatures?|rules?|checks? for|look for|search for|deny|denies)\b/i;
const SECURITY =
  /secur|audit|malware|injection|threat|vulnerab|harden|incident|forensic|pentest|red.?team|\bctf\b|scanner|guard|defen[cs]|attack|trust/i;

/** Whether a skill says at its beginning that it is about security. */
export function isAboutSecurity(text: string): boolean {
  return SECURITY.test(text.slice(0, 600));
}

interface Line {
  readonly text: string;
  readonly start: number;
}

/**
 * Instructions without their bad examples: attacks that they quote to explain them. Blanks of the same length replace
 * the examples, so positions stay the same. An example is code, a quotation, a row or an item that its own line, the
 * line before it or a heading above calls bad.
 */
export function withoutExamples(text: string): string {
  const about = isAboutSecurity(text);
  const bad = (words: string) => STRONG.test(words) || (about && WEAK.test(words));
  const out: string[] = [];
  const headings: string[] = [];
  let intro = "";
  let fence: { mark: string; blank: boolean } | undefined;
  for (const { text: line } of linesOf(text)) {
    const mark = /^\s{0,8}(?:>\s?)?(```|~~~)/.exec(line)?.[1];
    if (fence) {
      out.push(fence.blank && mark !== fence.mark ? blank(line) : line);
      if (mark === fence.mark) fence = undefined;
      continue;
    }
    if (mark) {
      fence = { mark, blank: bad(intro) || headings.some(bad) };
      out.push(line);
      continue;
    }
    const heading = /^(#{1,6})\s+(.*)/.exec(line);
    if (heading) {
      headings.length = Math.min(headings.length, heading[1]!.length - 1);
      headings[heading[1]!.length - 1] = heading[2]!;
      // The title of a document about attacks does not make its commands harmless.
      if (heading[1]!.length === 1) headings[0] = "";
      for (let i = 0; i < headings.length; i++) headings[i] ??= "";
      intro = "";
      out.push(line);
      continue;
    }
    const section = headings.some(bad) || bad(intro);
    out.push(shown(line, section, bad));
    if (line.trim() !== "" && !isItem(line)) intro = line;
  }
  return out.join("");
}

/**
 * In a section of bad examples, all items, rows and quotations are examples; elsewhere only quotations in a line that
 * says so.
 */
function shown(line: string, section: boolean, bad: (words: string) => boolean): string {
  if (section && isItem(line)) return blank(line);
  const words = line.replace(QUOTED, " ");
  return section || bad(words) ? line.replace(QUOTED, blank) : line;
}

const QUOTED =
  /`[^`\n]{1,400}`|"[^"\n]{4,400}"|\u201c[^\u201d\n]{4,400}\u201d|(?<=\s)'[^'\n]{4,400}'(?=[\s.,;])/g;

function isItem(line: string): boolean {
  return /^\s*(?:[-*+>|]|\d{1,3}[.)])\s?/.test(line);
}

function blank(text: string): string {
  return text.replace(/[^\r\n]/g, " ");
}

function* linesOf(text: string): Iterable<Line> {
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf("\n", start);
    const to = end < 0 ? text.length : end + 1;
    yield { text: text.slice(start, to), start };
    start = to;
  }
}

const PATTERN_LINE =
  /re\.compile|regex|pattern|RegExp|signature|\brules?\b|description|message|\\[sbwd][*+{]|\\\.|\/[gimsuy]{1,3}[,;]/i;
const DOING = /\b(?:system|popen|exec\w*|spawn\w*|post|put|urlopen|fetch|eval)\s*\(|\|\s*(?:ba)?sh\s*$/;

/** A scanner's script without the lines of its pattern tables. */
export function withoutPatterns(text: string): string {
  return [...linesOf(text)]
    .map(({ text: line }) =>
      PATTERN_LINE.test(line) && /["'`/]/.test(line) && !DOING.test(line.replace(QUOTED, " "))
        ? blank(line)
        : line,
    )
    .join("");
}
