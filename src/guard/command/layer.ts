import type { Finding } from "../finding.js";
import type { Context, Layer } from "../layer.js";
import type { Subject } from "../subject.js";
import type { Found } from "./checks/check.js";
import { explainReading } from "./explain.js";
import { hiddenCharacters } from "./hidden.js";
import { judgeReading } from "./judge.js";
import { Reader } from "./reader.js";
import { type Reading, TooComplex } from "./reading.js";
import { RULES, type Rule } from "./rules.js";
import { Scope } from "./scope.js";
import { judgeWindows } from "./windows/judge.js";
import { type Dialect, dialectsOf } from "./windows/lex.js";

/** Nobody types more than this; a file of data belongs into a file. */
const LENGTH = 1 << 17;

/**
 * Shell commands: read as a shell would read them (`reader.ts`), every wrapper taken off (`unwrap.ts`), every invocation
 * judged by its effects (`judge.ts`), by rules that are rows of tables (`rules.ts`, `programs/`).
 */
export const command: Layer = {
  name: "command",
  kinds: ["command"],
  check: (subject, context) => {
    const all = judge(subject, context).flatMap((one) => finding(one, context));
    return distinct(all.filter(({ action, rule }) => action !== "allow" || NOTES.has(rule)));
  },
  explain: (subject, context) => {
    const reading = read(subject, context);
    return reading === undefined ? [] : explainReading(reading);
  },
};

/** Said although they stop nothing: what runs the command lets it write there. */
const NOTES: ReadonlySet<string> = new Set(["write-new"]);

function judge(subject: Subject, context: Context): (Found | Finding)[] {
  const reading = read(subject, context);
  if (!reading) return [{ rule: "too-complex", span: { start: 0, end: Math.min(subject.input.length, 80) } }];
  const { input } = subject;
  const dialects = dialectsOf(input);
  const shell = judgeReading(reading, context);
  return [
    ...hiddenCharacters(input),
    ...(dialects.length > 0 ? shell.filter((one) => !isWindowsWord(input, one)) : shell),
    ...windows(input, dialects, context),
  ];
}

/** Agents also write for Windows's shells, whatever the host is. */
function windows(input: string, dialects: readonly Dialect[], context: Context): Found[] {
  const span = { start: 0, end: input.length };
  return dialects.flatMap((dialect) => judgeWindows(input, dialect, span, context));
}

/** `/s` is no folder there, and `$env:X = …` no command. */
function isWindowsWord(input: string, { span }: Found | Finding): boolean {
  const text = span ? input.slice(span.start, span.end) : "";
  return /^\/[a-z?]{1,3}$/i.test(text) || /^\$(env:)?\w+\s*=/.test(input.slice(span?.start));
}

/** Undefined when there is too much of it. */
function read({ input, fields }: Subject, { cwd, home, files }: Context): Reading | undefined {
  if (input.length > LENGTH) return undefined;
  const from = typeof fields?.cwd === "string" ? fields.cwd : cwd;
  try {
    return new Reader(input, new Scope(from, home), files.read).readAll();
  } catch (error) {
    if (error instanceof TooComplex || error instanceof RangeError) return undefined;
    throw error;
  }
}

function finding(one: Found | Finding, context: Context): Finding | [] {
  const full = "action" in one ? one : described(one, context);
  const { filed, suspected } = one as Found;
  if (suspected) return isGrave(full) ? hidden(full) : [];
  return filed && full.action !== "deny" ? [] : full;
}

function described({ rule, span, about }: Found, { profile }: Context): Finding {
  const { reason, instead, standard, strict = standard }: Rule = RULES[rule];
  return {
    layer: "command",
    rule,
    action: profile === "strict" ? strict : standard,
    reason: about ? `${reason} (${about})` : reason,
    span,
    ...(instead && { instead }),
  };
}

/** Of what only reads like a command: whatever would be refused, and whole folders that would go. */
const isGrave = ({ action, rule }: Finding) =>
  action === "deny" || rule === "recursive-delete" || rule === "delete-outside";

function hidden({ span, reason, rule }: Finding): Finding {
  const { standard, reason: why } = RULES["hidden-command"];
  return {
    layer: "command",
    rule: "hidden-command",
    action: standard,
    reason: `${why} (${rule}: ${reason})`,
    ...(span && { span }),
  };
}

function distinct(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ rule, span }) => {
    const key = `${rule} ${span?.start} ${span?.end}`;
    return !seen.has(key) && seen.add(key);
  });
}
