import { homedir } from "node:os";
import { AGENTS } from "../hooks/agents.js";
import { distrustHooks, trustHooks } from "../hooks/install/codex-trust.js";
import { install } from "../hooks/install/install.js";
import type { Places } from "../hooks/install/settings.js";
import { harmless } from "../text.js";
import { diff } from "../tools/files/diff.js";
import { paint, print } from "./output.js";
import { choice, usage } from "./values.js";

export interface InstallFlags {
  readonly project?: boolean;
  readonly user?: boolean;
  readonly undo?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function installCommand(name: string, flags: InstallFlags): Promise<number> {
  const agent = choice(
    "install",
    name,
    AGENTS.map((one) => one.name),
  );
  if (flags.project && flags.user) throw usage("--project or --user, not both");
  const { undo = false, dryRun = false } = flags;
  const scope = flags.user ? "user" : "project";
  const places = { project: process.cwd(), home: homedir(), env: process.env };
  const { before, after, notes, ...rest } = install({ agent, scope, undo, dryRun }, places);
  const trust = agent === "codex" ? await trustOf(rest.file, { undo, dryRun }, places) : undefined;
  const done = { ...rest, notes: [...notes, ...(trust === undefined ? [] : [trust])] };
  if (flags.json) print(`${JSON.stringify({ agent, scope, undo, dryRun, ...done })}\n`);
  else show(agent, flags, { before, after, ...done });
  return 0;
}

/** Codex has to be told besides that its user trusts the hook. */
async function trustOf(
  file: string,
  { undo, dryRun }: { undo: boolean; dryRun: boolean },
  places: Places,
): Promise<string | undefined> {
  if (undo) return distrustHooks(file, places, dryRun);
  return dryRun ? "Codex would be told that you trust it." : trustHooks(file, places);
}

function show(agent: string, { undo, dryRun }: InstallFlags, done: ReturnType<typeof install>): void {
  const { file, changed, before, after, backup, notes } = done;
  const p = paint(1);
  const would = dryRun ? "would be " : "";
  const what = undo ? "taken out of" : "told in";
  if (!changed) print(`${agent}: nothing to do in ${harmless(file)}\n`);
  else
    print(
      `${agent}: the hook ${would || "is "}${what} ${harmless(file)}${after === undefined ? `, which ${would || "is "}removed` : ""}\n`,
    );
  if (changed && dryRun)
    for (const line of diff(before, after ?? "").split("\n"))
      print(`${p(line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : "dim", harmless(line))}\n`);
  if (backup !== undefined) print(`  as it was: ${harmless(backup)}\n`);
  for (const note of notes) print(`  ${harmless(note)}\n`);
}
