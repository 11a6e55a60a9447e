import { counted, escapeControl, groupDigits } from "../../nouns/text.js";
import type { VerdictAction } from "../../nouns/verdict.js";
import { allowCommand, entryAgainstRefusal } from "../../people/approval/how-to-allow.js";
import type { SessionResult } from "../../session/options.js";
import { paint } from "./output.js";

const WORDS: Record<VerdictAction, string> = {
  allow: "allowed",
  modify: "changed",
  emulate: "emulated",
  fault: "made to fail",
  ask: "asked about",
  deny: "denied",
  kill: "killed",
};
const SHOWN = 20;

/** The summary of a run, a few lines on stderr. */
export function renderSummary(result: SessionResult, workspace?: string): string {
  const p = paint(2);
  const { summary, protections } = result;
  const counts = countWords(summary);
  const seen = summary.calls > 0 ? [`${counted(summary.calls, "call")} seen`] : [];
  const end = result.timedOut
    ? "timed out"
    : result.detached
      ? `detached from process ${result.pid}, which runs on`
      : result.signal
        ? `ended by ${result.signal}`
        : `exit ${result.exitCode}`;
  const lines = [`${p("bold", "hermes:")} ${[end, ...seen, ...counts].join(" · ")}`];
  for (const d of summary.decisions.slice(0, SHOWN)) {
    const colour =
      d.action === "deny" || d.action === "kill" ? "red" : d.action === "allow" ? "dim" : "yellow";
    const done = d.action === "allow" ? "watch" : d.delayed ? "delay" : d.action;
    const what = [d.policy, d.rule].filter(Boolean).join("/");
    lines.push(
      `  ${p(colour, done.padEnd(8))}${d.call.padEnd(14)} ${`×${d.count}`.padEnd(6)} ${what}${d.reason ? `: ${d.reason}` : ""}${targets(d)}`,
    );
  }
  if (summary.decisions.length > SHOWN)
    lines.push(`  … and ${summary.decisions.length - SHOWN} more (--json shows all)`);
  for (const command of waysToAllow(summary, workspace)) lines.push(p("dim", `  to allow: ${command}`));
  const never = (summary.neverApplied ?? []).map(({ policy, rule }) => `${policy}/${rule}`);
  if (never.length > 0) lines.push(p("yellow", `  ${neverApplied(never)}`));
  if (result.policies.length === 0 && protections.fence !== "strict" && protections.attached === undefined)
    lines.push(p("dim", "  no policy: nothing was held"));
  lines.push(p("dim", `  active: ${inForce(protections).join(", ")}`));
  if (protections.withoutView !== undefined)
    lines.push(p("dim", `  no view, reading files is decided at each call: ${protections.withoutView}`));
  if (protections.attached !== undefined) lines.push(p("dim", `  ${protections.attached}`));
  for (const [why, names] of byReason(protections.missing))
    lines.push(p("yellow", `  NOT active: ${fenceWords(names)}: ${why}`));
  if (result.fast) lines.push(p("dim", `  ${fastLine(result.fast)}`));
  if (result.trace) lines.push(`  trace: ${traceLine(result.trace)}`);
  return `${lines.join("\n")}\n`;
}

const WAYS_SHOWN = 3;

/** What a person types to let happen what was refused; the log has the others. */
function waysToAllow({ deeds = [] }: SessionResult["summary"], workspace: string | undefined): string[] {
  const refused = deeds.filter(({ action }) => action === "deny" || action === "kill");
  const entries = refused.map((deed) => entryAgainstRefusal(deed)).filter((entry) => entry !== undefined);
  const commands = [...new Set(entries.map((entry) => allowCommand(entry, workspace)))].filter(isShort);
  const more = commands.length - WAYS_SHOWN;
  return [...commands.slice(0, WAYS_SHOWN), ...(more > 0 ? [`… and ${more} more: hermes log --denied`] : [])];
}

/** Longer ones are in the log. */
const isShort = (command: string) => command.length <= 200 && escapeControl(command) === command;

/** "rule p/full never applied", "rules p/full, p/slow and 3 more never applied". */
export function neverApplied(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return `${names.length === 1 ? "rule" : "rules"} ${names.slice(0, NAMED).join(", ")}${more} never applied`;
}

/** A delayed call did not fail. */
function countWords({ byAction, decisions }: SessionResult["summary"]): string[] {
  const delayed = decisions.reduce((sum, { delayed, count }) => sum + (delayed ? count : 0), 0);
  const counts = (Object.entries(byAction) as [VerdictAction, number][]).map(
    ([action, count]) => [WORDS[action], action === "fault" ? count - delayed : count] as const,
  );
  return [...counts, ["delayed", delayed] as const]
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${groupDigits(count)} ${word}`);
}

const NAMED = 10;
const TARGETS_SHOWN = 3;
const LONGEST_TARGET = 100;

/** The first files, addresses or commands that a rule refused or changed. Names are the program's, and may be hostile. */
function targets({ targets = [], unlisted = 0 }: SessionResult["summary"]["decisions"][number]): string {
  if (targets.length === 0) return "";
  const shown = targets.slice(0, TARGETS_SHOWN).map(({ target, count }) => {
    const text = escapeControl(target);
    const cut = text.length > LONGEST_TARGET ? `${text.slice(0, LONGEST_TARGET)}…` : text;
    return `${cut}${count > 1 ? ` ×${groupDigits(count)}` : ""}`;
  });
  const isAll = targets.length <= TARGETS_SHOWN && unlisted === 0;
  return ` (${shown.join(", ")}${isAll ? "" : ", …"})`;
}

/** The program itself reports these calls, so the record is only as honest as the program. */
function fastLine({ records, lost, patched, left }: NonNullable<SessionResult["fast"]>): string {
  const others = Object.keys(left).length;
  return [
    `fast tier (cooperative): ${counted(records, "call")} recorded inside the program at ${counted(patched, "place")}`,
    ...(others > 0 ? [`${counted(others, "function")} stopped at instead`] : []),
    ...(lost > 0 ? [`${counted(lost, "call")} LOST`] : []),
  ].join(", ");
}

function inForce(protections: SessionResult["protections"]): string[] {
  const { doors, filterInstructions, constantRules, noNewPrivs, ioUring, fence, attached } = protections;
  return [
    doors.length > 0
      ? `${doors.join(" and ")} door${doors.length > 1 ? "s" : ""}`
      : "no door (no subscriptions)",
    ...(attached !== undefined && filterInstructions === 0
      ? []
      : [
          `filter of ${counted(filterInstructions, "instruction")}${constantRules > 0 ? `, which decides ${counted(constantRules, "rule")} alone` : ""}`,
        ]),
    "other ABIs refused",
    ...(ioUring === "refused" ? ["io_uring refused"] : []),
    ...(noNewPrivs ? ["no new privileges"] : []),
    attached !== undefined
      ? "no fence"
      : `fence ${fence}${protections.inForce.length > 0 ? ` (${fenceWords(protections.inForce)})` : ""}`,
    ...(protections.hiddenFiles === undefined ? [] : [`${counted(protections.hiddenFiles, "path")} hidden`]),
    ...(protections.changeable === undefined
      ? []
      : [`other files than in ${counted(protections.changeable.length, "place")} read-only`]),
    ...(protections.functions === undefined ? [] : [functionWords(protections.functions)]),
    ...Object.entries(protections.instructions ?? {}).map(
      ([name, count]) => `${name} at ${counted(count, "place")} of code (cooperative)`,
    ),
  ];
}

function functionWords(count: number): string {
  return `${counted(count, "function")} instrumented (cooperative)`;
}

function traceLine({ file, records, lost }: NonNullable<SessionResult["trace"]>): string {
  const missing = [
    ...(lost.observations > 0 ? [counted(lost.observations, "observation")] : []),
    ...(lost.decisions > 0 ? [counted(lost.decisions, "decision")] : []),
  ];
  const incomplete = missing.length > 0 ? `, INCOMPLETE: without ${missing.join(" and ")}` : "";
  return `${file} (${counted(records, "record")}${incomplete})`;
}

function byReason(missing: SessionResult["protections"]["missing"]): Map<string, string[]> {
  const reasons = new Map<string, string[]>();
  for (const { name, why } of missing) reasons.set(why, [...(reasons.get(why) ?? []), name]);
  return reasons;
}

/** All namespaces grouped. */
function fenceWords(names: readonly string[]): string {
  const spaces = names.flatMap((name) => /^(\w+)_namespace$/.exec(name)?.[1] ?? []);
  const others = names
    .filter((name) => !name.endsWith("_namespace"))
    .map((name) => name.replaceAll("_", " "));
  return [...(spaces.length > 0 ? [`namespaces ${spaces.join(" ")}`] : []), ...others].join("; ");
}
