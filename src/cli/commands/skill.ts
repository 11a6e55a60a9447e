import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import type { Action, Finding } from "../../intent/guard/finding.js";
import { configuredGuard } from "../../intent/guard/host.js";
import { type InstallOutcome, type ScanSkill, SkillStore } from "../../intent/guard/skills/store.js";
import { paint, print } from "../views/output.js";

interface Flags {
  readonly home?: string;
  readonly source?: string;
  readonly name?: string;
  readonly json?: boolean;
}

const EXIT: Readonly<Record<Action, number>> = { allow: 0, ask: 3, deny: 4 };
const STYLE = { allow: "green", ask: "yellow", deny: "red" } as const;

export async function skillScanner(): Promise<ScanSkill> {
  const guard = await configuredGuard();
  return (folder, source) =>
    guard.check({ kind: "skill", input: folder, fields: { ...(source && { source }) } });
}

export function skillFolder(): string {
  return process.env.HERMES_HOME ?? join(homedir(), ".hermes");
}

async function storeOf({ home }: Flags): Promise<SkillStore> {
  return new SkillStore(home ?? skillFolder(), await skillScanner());
}

/** Judges a skill without installing it. */
export async function skillScanCommand(folder: string, flags: Flags): Promise<number> {
  const { action, findings } = (await skillScanner())(resolve(folder), flags.source);
  if (flags.json) print(`${JSON.stringify({ action, findings })}\n`);
  else show(basename(resolve(folder)), action, findings);
  return EXIT[action];
}

export async function skillInstallCommand(folder: string, flags: Flags): Promise<number> {
  return report(
    (await storeOf(flags)).install(resolve(folder), flags.name ?? basename(resolve(folder)), flags.source),
    flags,
  );
}

export async function skillListCommand(flags: Flags): Promise<number> {
  const store = await storeOf(flags);
  const listed = { installed: store.list(), quarantined: store.quarantined() };
  if (flags.json) print(`${JSON.stringify(listed)}\n`);
  else {
    for (const name of listed.installed) print(`${name}\n`);
    for (const { id, action, at } of listed.quarantined)
      print(`${id}  ${paint(1)(STYLE[action], "in quarantine")} since ${at}\n`);
  }
  return 0;
}

/** The findings that the operator decides on. The skill's author never sees them. */
export async function skillReviewCommand(id: string | undefined, flags: Flags): Promise<number> {
  const waiting = (await storeOf(flags)).quarantined().filter((one) => id === undefined || one.id === id);
  if (flags.json) print(`${JSON.stringify(waiting)}\n`);
  else for (const { id: name, action, findings } of waiting) show(name, action, findings);
  return id !== undefined && waiting.length === 0 ? 1 : 0;
}

export async function skillApproveCommand(id: string, flags: Flags): Promise<number> {
  return report((await storeOf(flags)).approve(id), flags);
}

export async function skillRejectCommand(id: string, flags: Flags): Promise<number> {
  (await storeOf(flags)).reject(id);
  return 0;
}

function report(outcome: InstallOutcome, { json }: Flags): number {
  if (json) print(`${JSON.stringify(outcome)}\n`);
  else if (outcome.installed) print(`installed ${outcome.name} (sha256 ${outcome.digest.slice(0, 12)})\n`);
  else {
    show(outcome.quarantined.name, outcome.quarantined.action, outcome.quarantined.findings);
    print(
      `\nThe skill is in quarantine as ${outcome.quarantined.id}. Decide with hermes skill review, approve or reject.\n`,
    );
  }
  return outcome.installed ? 0 : EXIT[outcome.quarantined.action];
}

function show(name: string, action: Action, findings: readonly Finding[]): void {
  const p = paint(1);
  print(`${p(STYLE[action], p("bold", action))}  ${name}\n`);
  for (const one of findings)
    print(`  ${p(STYLE[one.action], one.action)} ${one.layer}/${one.rule}: ${visible(one.reason)}\n`);
}

/** Escapes text of skills for the terminal. */
function visible(text: string): string {
  return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, "?");
}
