import { Evaluator, TooMuch } from "./evaluate.js";
import type { Report } from "./report.js";
import { Scope } from "./scope.js";
import { Statements } from "./statements.js";
import { parse, TooDeep } from "./tree.js";

/** Longer than anybody hands over in one piece. */
const LONGEST = 200_000;
/** Encodings of source files that read as they look. Others turn harmless text into code. */
const CODING = /^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)/;
const PLAIN_CODINGS = /^(?:utf-?8(?:-sig)?|ascii|us-ascii|latin-?1|iso-8859-1?5?|cp125[0-9])$/i;

/** Judges one script; everything that is found goes to the report. */
export function judgeScript(source: string, report: Report): void {
  const whole = { type: "Script", from: 0, to: source.length, kids: [] };
  if (source.length > LONGEST) {
    report.add("deny", "python-too-large", "The script is too long to be judged.", whole);
    return;
  }
  if (source.includes("\0"))
    report.add("deny", "python-syntax", "A NUL byte is no part of any script.", whole);
  for (const line of source.split(/\r\n?|\n/, 2)) {
    const coding = CODING.exec(line)?.[1];
    if (coding !== undefined && !PLAIN_CODINGS.test(coding))
      report.add("deny", "python-coding", `Read as ${coding}, this is another text than it seems.`, whole);
  }
  try {
    let { root, errors } = parse(source);
    if (errors.length > 0 && magics(source, report)) ({ root, errors } = parse(withoutMagics(source)));
    const [error] = errors;
    if (error)
      report.add(
        "ask",
        "python-syntax",
        "This is no Python that can be read: what it does cannot be known.",
        {
          ...whole,
          from: error.from,
          to: Math.max(error.to, Math.min(error.from + 1, source.length)),
        },
      );
    new Statements(new Evaluator(source, report, judgeScript)).run(root, new Scope());
  } catch (error) {
    if (!(error instanceof TooDeep || error instanceof TooMuch || error instanceof RangeError)) throw error;
    report.add(
      "deny",
      "python-too-complex",
      "The script is nested too deep, or too intricate, to be judged.",
      whole,
    );
  }
}

const MAGIC = /^[ \t]*(?:[!?]|%{1,2}[a-z])[^\n]*$/gim;

/** The same script with the lines of a notebook's own language as comments. */
function withoutMagics(source: string): string {
  const shell = /^[ \t]*%%(?:bash|sh|script|system)\b/m.exec(source);
  const code = shell ? source.slice(0, shell.index) : source;
  return code.replace(MAGIC, (line) => `#${line.slice(1)}`);
}

/** Lines of a notebook that go to a shell: `!curl …`, `%%bash`. Whether there are lines of a notebook at all. */
function magics(source: string, report: Report): boolean {
  const shell = /^[ \t]*%%(?:bash|sh|script|system)\b[^\n]*\n([\s\S]*)/m.exec(source)?.[1];
  const lines = [...source.matchAll(/^[ \t]*(?:!|%(?:sx|system|sc)\b)[ \t]*(.+)$/gm)].map(
    (match) => match[1]!,
  );
  for (const input of [...lines.slice(0, 50), ...(shell === undefined ? [] : [shell])])
    report.relay({ kind: "command", input }, { type: "Script", from: 0, to: source.length, kids: [] });
  MAGIC.lastIndex = 0;
  return MAGIC.test(source);
}
