import type { Finding } from "../finding.js";
import type { Context, Layer } from "../layer.js";
import type { Subject } from "../subject.js";
import { canBeAllowed, isAllowedPlace, RULES_ON_PLACES, withAllowedCommands } from "./allowed.js";
import type { RuleHit } from "./checks/check.js";
import { explainReading, laterChecks } from "./explain.js";
import { hiddenCharacters } from "./hidden-characters.js";
import { judgeReading } from "./judge.js";
import { inSmallLetters } from "./letter-case.js";
import { Reader } from "./reader.js";
import { type CommandReading, TooComplex } from "./reading.js";
import { type CommandRule, RULES } from "./rules.js";
import { ShellScope } from "./scope.js";
import { judgeWindows } from "./windows/judge.js";
import { dialectsOf, type WindowsDialect } from "./windows/lex.js";

/** Longer than people type; data belongs in a file. */
const LENGTH = 1 << 17;

/**
 * Shell commands. The reader reads them as a shell would (`reader.ts`) and takes off every wrapper (`unwrap.ts`).
 * Checks judge each invocation by its effects (`judge.ts`), with rules that are rows of tables (`rules.ts`,
 * `programs/`).
 */
export const commandLayer: Layer = {
  name: "command",
  kinds: ["command"],
  check: (subject, context) => {
    const found = (one: Subject) => judge(one, context).flatMap((hit) => finding(hit, context));
    const small = inSmallLetters(subject.input, context);
    const all = [
      ...found(subject).filter(({ action, rule }) => action !== "allow" || NOTES.has(rule)),
      ...(small === undefined
        ? []
        : found({ ...subject, input: small }).filter(
            ({ action, rule }) => action !== "allow" && !OF_THE_LIST.has(rule),
          )),
    ];
    const told = distinct(all);
    return withAllowedCommands(subject.input, told, context);
  },
  explain: (subject, context) => {
    const reading = read(subject, context);
    return reading === undefined ? [] : explainReading(reading);
  },
  explainLater: (subject, context) => {
    const reading = read(subject, context);
    return reading === undefined ? [] : laterChecks(reading);
  },
};

/** Judged of the command as it is written. */
const OF_THE_LIST: ReadonlySet<string> = new Set(["not-listed", "several-statements"]);

/** Notes that are reported although they stop nothing: the tools use them to allow these writes at run time. */
const NOTES: ReadonlySet<string> = new Set(["write-new", ...RULES_ON_PLACES]);

function judge(subject: Subject, context: Context): (RuleHit | Finding)[] {
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

/** Agents also write for the shells of Windows, on every host. */
function windows(input: string, dialects: readonly WindowsDialect[], context: Context): RuleHit[] {
  const span = { start: 0, end: input.length };
  return dialects.flatMap((dialect) => judgeWindows(input, dialect, span, context));
}

/** For these shells, `/s` is no folder and `$env:X = …` no command. */
function isWindowsWord(input: string, { span }: RuleHit | Finding): boolean {
  const text = span ? input.slice(span.start, span.end) : "";
  return /^\/[a-z?]{1,3}$/i.test(text) || /^\$(env:)?\w+\s*=/.test(input.slice(span?.start));
}

/** Undefined when the command is too long or too complex. */
function read({ input, fields }: Subject, { cwd, home, files }: Context): CommandReading | undefined {
  if (input.length > LENGTH) return undefined;
  const from = typeof fields?.cwd === "string" ? fields.cwd : cwd;
  try {
    return new Reader(input, new ShellScope(from, home), files.read).readAll();
  } catch (error) {
    if (error instanceof TooComplex || error instanceof RangeError) return undefined;
    throw error;
  }
}

function finding(one: RuleHit | Finding, context: Context): Finding | [] {
  const full = "action" in one ? one : described(one, context);
  const { filed, suspected } = one as RuleHit;
  if (!("action" in one) && isAllowedPlace(one, context)) return { ...full, action: "allow" };
  if (suspected) return isGrave(full) ? hidden(full) : [];
  return filed && full.action !== "deny" ? [] : full;
}

function described({ rule, span, about }: RuleHit, { profile }: Context): Finding {
  const {
    reason,
    instead: usual,
    insteadInStrict = usual,
    standard,
    strict = standard,
  }: CommandRule = RULES[rule];
  const instead = profile === "strict" ? insteadInStrict : usual;
  return {
    layer: "command",
    rule,
    action: profile === "strict" ? strict : standard,
    reason: about ? `${reason} (${about})` : reason,
    span,
    ...(about && canBeAllowed(rule, about) && { about }),
    ...(instead && { instead }),
  };
}

/** Of words that only look like a command, only refusals and deletions of whole folders count. */
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
