import { createInterface } from "node:readline";
import { setFlagsFromString } from "node:v8";
import { ENFORCED_AT, enforcedAt } from "../../intent/guard/command/enforced-at.js";
import type { Action, Finding } from "../../intent/guard/finding.js";
import type { Guard, Judgement } from "../../intent/guard/guard.js";
import { configuredGuard } from "../../intent/guard/host.js";
import type { Profile } from "../../intent/guard/layer.js";
import { KINDS, type Kind, type Subject } from "../../intent/guard/subject.js";
import { HermesError } from "../../nouns/errors.js";
import { paint, print } from "../views/output.js";

interface Flags {
  readonly cwd: string;
  readonly profile?: string;
  readonly online?: boolean;
}

interface CheckFlags extends Flags {
  readonly kind: string;
  readonly field?: readonly string[];
  readonly json?: boolean;
}

const EXIT: Readonly<Record<Action, number>> = { allow: 0, ask: 3, deny: 4 };

export async function guardCheckCommand(input: string, flags: CheckFlags): Promise<number> {
  if (!isKind(flags.kind))
    throw new HermesError("USAGE", { message: `unknown kind "${flags.kind}" (${KINDS.join(", ")})` });
  const guard = await guardFor(flags);
  const fields = Object.fromEntries((flags.field ?? []).map(fieldOf));
  const subject = { kind: flags.kind, input: input === "-" ? await stdin() : input, fields };
  const judgement = await guard.judge(subject);
  if (flags.json)
    print(
      `${JSON.stringify({ ...judgement, explanation: guard.explain(subject), later: guard.explainLater(subject) })}\n`,
    );
  else show(guard, subject, judgement);
  return EXIT[judgement.action];
}

/** One answer per line, in the order of the requests; an invalid line is answered with a refusal, not skipped. */
export async function guardBatchCommand(flags: Flags): Promise<number> {
  // The guard is much code that runs a little each. V8 would spend a third of the time of 10,000 inputs on optimizing it;
  // with this budget it optimizes what is still hot after that.
  setFlagsFromString("--interrupt-budget=1000000");
  setFlagsFromString("--no-regexp-tier-up");
  const guard = await guardFor(flags);
  let answers = "";
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === "") continue;
    answers += `${JSON.stringify(await answer(guard, line))}\n`;
    if (answers.length > 1 << 16 || process.stdin.readableLength === 0) {
      print(answers);
      answers = "";
    }
  }
  print(answers);
  return 0;
}

async function answer(guard: Guard, line: string): Promise<{ id: unknown } & Judgement> {
  let question: { id?: unknown; kind?: unknown; input?: unknown };
  try {
    question = JSON.parse(line);
  } catch (error) {
    return refused(null, `This line is not JSON: ${(error as Error).message}`);
  }
  const { id = null, kind = "command", input, ...fields } = question ?? {};
  if (typeof kind !== "string" || !isKind(kind)) return refused(id, `Unknown kind ${JSON.stringify(kind)}.`);
  if (input === undefined || input === null) return refused(id, 'The field "input" is missing.');
  const text = typeof input === "string" ? input : JSON.stringify(input);
  return { id, ...(await guard.judge({ kind, input: text, fields })) };
}

function refused(id: unknown, reason: string): { id: unknown } & Judgement {
  return { id, action: "deny", findings: [{ layer: "guard", rule: "bad-input", action: "deny", reason }] };
}

function guardFor({ cwd, profile, online = false }: Flags): Promise<Guard> {
  if (profile !== undefined && !isProfile(profile))
    throw new HermesError("USAGE", { message: `unknown profile "${profile}" (standard, strict)` });
  return configuredGuard({ workspace: cwd, online, ...(profile && { profile }) });
}

function fieldOf(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new HermesError("USAGE", { message: `--field takes name=value, not "${text}"` });
  return [text.slice(0, at), text.slice(at + 1)];
}

const isKind = (text: string): text is Kind => (KINDS as readonly string[]).includes(text);
const isProfile = (text: string): text is Profile => text === "standard" || text === "strict";

async function stdin(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) text += chunk;
  return text.replace(/\n$/, "");
}

const STYLE = { allow: "green", ask: "yellow", deny: "red" } as const;

function show(guard: Guard, subject: Subject, { action, findings }: Judgement): void {
  const p = paint(1);
  print(`${p(STYLE[action], p("bold", action))}  ${visible(subject.input)}\n`);
  for (const line of guard.explain(subject)) print(`  ${p("dim", visible(line))}\n`);
  for (const finding of findings) showFinding(subject.input, finding);
  const later = guard.explainLater(subject);
  if (later.length > 0) print("\n");
  for (const line of later) print(`${p("dim", visible(line))}\n`);
}

function showFinding(input: string, { action, layer, rule, reason, span, instead }: Finding): void {
  const p = paint(1);
  print(`\n${p(STYLE[action], action)} ${p("bold", `${layer}/${rule}`)}: ${visible(reason)}\n`);
  if (span) print(underline(input, span.start, span.end));
  if (instead) print(`  instead: ${visible(instead)}\n`);
  if (layer === "command") print(`  ${p("dim", `if it were missed: ${ENFORCED_AT[enforcedAt(rule)]}`)}\n`);
}

/** The line of the input in which a span starts, with the span underlined. */
function underline(input: string, start: number, end: number): string {
  const from = input.lastIndexOf("\n", start - 1) + 1;
  const newline = input.indexOf("\n", start);
  const to = newline < 0 ? input.length : newline;
  const before = visible(input.slice(from, start));
  const marked = visible(input.slice(start, Math.min(end, to)));
  const after = visible(input.slice(Math.min(end, to), to));
  return `  ${before}${marked}${after}\n  ${" ".repeat(before.length)}${paint(1)("red", "^".repeat(Math.max(1, marked.length)))}\n`;
}

/** Escapes text of agents for the terminal. */
function visible(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
