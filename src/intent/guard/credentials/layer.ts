import { type Finding, findings } from "../finding.js";
import type { Context, Layer } from "../layer.js";
import type { Subject } from "../subject.js";
import { judgeVariable, type Withheld } from "./env.js";
import { findSecrets } from "./secrets.js";
import type { CredentialsSection } from "./section.js";

const { ask, deny } = findings("credentials");

/** Environment variables that would carry a credential or code to a child; secrets in any text. */
export const credentialsLayer: Layer = {
  name: "credentials",
  kinds: ["env", "text", "memory"],
  check: (subject, context) => (subject.kind === "env" ? environment(subject, context) : text(subject)),
};

function text({ input }: Subject): readonly Finding[] {
  return findSecrets(input).map(({ rule, what, start, end, certain }) =>
    (certain ? deny : ask)(
      rule,
      `This holds ${what}.`,
      { start, end },
      "Redact it, or name the place where it is kept.",
    ),
  );
}

function environment({ input }: Subject, { config }: Context): readonly Finding[] {
  const section = config.credentials as Partial<CredentialsSection> | undefined;
  const options = { declared: section?.pass ?? [], strip: section?.strip ?? [] };
  const variables = [...variablesOf(input)];
  if (variables.length === 0 && input.trim() !== "" && input.trim() !== "{}")
    return [ask("env-unreadable", "The input is neither NAME=value lines nor a JSON object of variables.")];
  return variables.flatMap(({ name, value, start, end }) => {
    const why = judgeVariable(name, value, options);
    return why ? [withheld(why, { start, end })] : [];
  });
}

function withheld({ name, rule, reason }: Withheld, span: { start: number; end: number }): Finding {
  const instead =
    rule === "env-never" || rule === "env-code"
      ? undefined
      : `If the child needs it, declare it: credentials: { pass: [${name}] }.`;
  return deny(rule, reason, span, instead);
}

interface Variable {
  readonly name: string;
  readonly value: string | undefined;
  readonly start: number;
  readonly end: number;
}

/** A JSON object of variables, or lines of NAME=value (`export` allowed) or NAME. */
function* variablesOf(input: string): Iterable<Variable> {
  const object = input.trimStart().startsWith("{") ? parsed(input) : undefined;
  if (object !== undefined) {
    let from = 0;
    for (const [name, value] of Object.entries(object)) {
      const start = Math.max(from, input.indexOf(JSON.stringify(name), from));
      from = start + name.length + 2;
      yield { name, value: typeof value === "string" ? value : JSON.stringify(value), start, end: from };
    }
    return;
  }
  const line = /^[ \t]*(?:export[ \t]+|set[ \t]+|\$env:)?([^\s=#"']+)(?:[ \t]*=[ \t]*(.*))?$/gim;
  for (const match of input.matchAll(line)) {
    const start = match.index + match[0].indexOf(match[1]!);
    const value = match[2]?.trim().replace(/^(["'])([\s\S]*)\1$/, "$2");
    yield { name: match[1]!, value, start, end: match.index + match[0].length };
  }
}

function parsed(input: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
