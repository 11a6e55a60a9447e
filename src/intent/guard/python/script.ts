import { Evaluator, TooMuch } from "./evaluate.js";
import type { FindingCollector } from "./finding-collector.js";
import { PythonScope } from "./scope.js";
import { Statements } from "./statements.js";
import { parse, TooDeep } from "./tree.js";

/** Longer than a script that an agent passes in one piece. */
const LONGEST = 200_000;
/** Source encodings in which text reads as it looks. Others turn harmless text into code. */
const CODING = /^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)/;
const PLAIN_CODINGS = /^(?:utf-?8(?:-sig)?|ascii|us-ascii|latin-?1|iso-8859-1?5?|cp125[0-9])$/i;

/** Judges one script; findings go to the report. */
export function judgeScript(source: string, report: FindingCollector): void {
  const whole = { type: "Script", from: 0, to: source.length, kids: [] };
  if (source.length > LONGEST) {
    report.add("deny", "python-too-large", "The script is too long to be judged.", whole);
    return;
  }
  if (source.includes("\0")) report.add("deny", "python-syntax", "The script contains a NUL byte.", whole);
  for (const line of source.split(/\r\n?|\n/, 2)) {
    const coding = CODING.exec(line)?.[1];
    if (coding !== undefined && !PLAIN_CODINGS.test(coding))
      report.add(
        "deny",
        "python-coding",
        `Read as ${coding}, the script is another text than it seems.`,
        whole,
      );
  }
  try {
    let { root, errors } = parse(source);
    if (errors.length > 0 && magics(source, report)) ({ root, errors } = parse(withoutMagics(source)));
    const [error] = errors;
    if (error)
      report.add("ask", "python-syntax", "The script is not valid Python: what it does is unknown.", {
        ...whole,
        from: error.from,
        to: Math.max(error.to, Math.min(error.from + 1, source.length)),
      });
    new Statements(new Evaluator(source, report, judgeScript)).run(root, new PythonScope());
  } catch (error) {
    if (!(error instanceof TooDeep || error instanceof TooMuch || error instanceof RangeError)) throw error;
    report.add("deny", "python-too-complex", "The script is too deep or too complex to be judged.", whole);
  }
}

const MAGIC = /^[ \t]*(?:[!?]|%{1,2}[a-z])[^\n]*$/gim;

/** The same script with a notebook's special lines as comments. */
function withoutMagics(source: string): string {
  const shell = /^[ \t]*%%(?:bash|sh|script|system)\b/m.exec(source);
  const code = shell ? source.slice(0, shell.index) : source;
  return code.replace(MAGIC, (line) => `#${line.slice(1)}`);
}

/** Judges the lines of a notebook that go to a shell: `!curl …`, `%%bash`. Returns whether there are any. */
function magics(source: string, report: FindingCollector): boolean {
  const shell = /^[ \t]*%%(?:bash|sh|script|system)\b[^\n]*\n([\s\S]*)/m.exec(source)?.[1];
  const lines = [...source.matchAll(/^[ \t]*(?:!|%(?:sx|system|sc)\b)[ \t]*(.+)$/gm)].map(
    (match) => match[1]!,
  );
  for (const input of [...lines.slice(0, 50), ...(shell === undefined ? [] : [shell])])
    report.relay({ kind: "command", input }, { type: "Script", from: 0, to: source.length, kids: [] });
  MAGIC.lastIndex = 0;
  return MAGIC.test(source);
}
