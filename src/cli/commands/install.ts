import { homedir } from "node:os";
import { AGENTS } from "../../agents/hooks/agents.js";
import { distrustHooks, trustHooks } from "../../agents/hooks/install/codex-trust.js";
import { install } from "../../agents/hooks/install/install.js";
import type { SettingsFolders } from "../../agents/hooks/install/settings.js";
import { knownAgents } from "../../agents/hooks/known-agents.js";
import { diff } from "../../agents/tools/files/diff.js";
import { loadConfig } from "../../intent/guard/config/load.js";
import { profileText } from "../../intent/guard/config/profile-text.js";
import { escapeControl } from "../../nouns/text.js";
import { choice, usageError } from "../options/values.js";
import { paint, print } from "../views/output.js";

interface InstallFlags {
  readonly all?: boolean;
  readonly project?: boolean;
  readonly user?: boolean;
  readonly undo?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function installCommand(name: string | undefined, flags: InstallFlags): Promise<number> {
  if (flags.project && flags.user) throw usageError("use either --project or --user");
  const { undo = false, dryRun = false } = flags;
  const scope = flags.user ? "user" : "project";
  const places = { project: process.cwd(), home: homedir(), env: process.env };
  const order = { scope, undo, dryRun } as const;
  const done: Done[] = [];
  for (const agent of agentsOf(name, flags, places)) done.push(await installed(agent, order, places));
  if (flags.json) {
    const told = done.map(({ before: _, after: __, ...rest }) => rest);
    print(`${JSON.stringify(flags.all ? told : told[0])}\n`);
  } else for (const one of done) show(one.agent, flags, one);
  return 0;
}

interface Done extends ReturnType<typeof install> {
  readonly agent: string;
}

/** The one that is named, or with `--all` those that are found. */
function agentsOf(name: string | undefined, { all }: InstallFlags, places: SettingsFolders): string[] {
  if (name !== undefined && all) throw usageError("use either the name of an agent or --all");
  if (!all) {
    const names = AGENTS.map((one) => one.name);
    if (name === undefined) throw usageError(`name an agent (${names.join(", ")}), or use --all`);
    return [choice("install", name, names)];
  }
  const found = knownAgents(places).filter(({ file, hook }) => file !== undefined && hook);
  if (found.length === 0) throw usageError("no agent with a hook is on the PATH: hermes agents lists them");
  return found.map((one) => one.name);
}

async function installed(
  agent: string,
  { scope, undo, dryRun }: { scope: "user" | "project"; undo: boolean; dryRun: boolean },
  places: SettingsFolders,
) {
  const { before, after, notes, ...rest } = install({ agent, scope, undo, dryRun }, places);
  const trust = agent === "codex" ? await trustOf(rest.file, { undo, dryRun }, places) : undefined;
  const told = [...notes, ...(trust === undefined ? [] : [trust]), ...inForce(undo)];
  return { agent, scope, undo, dryRun, ...rest, before, after, notes: told };
}

/** The hooks judge by the configuration, so its profile is told where they are installed. */
function inForce(undo: boolean): string[] {
  const places = { workspace: process.cwd(), home: homedir(), env: process.env };
  return undo ? [] : [profileText(loadConfig(places).config.profile, places)];
}

/** Codex must also be told that its user trusts the hook. */
async function trustOf(
  file: string,
  { undo, dryRun }: { undo: boolean; dryRun: boolean },
  places: SettingsFolders,
): Promise<string | undefined> {
  if (undo) return distrustHooks(file, places, dryRun);
  return dryRun ? "Codex would be told to trust the hook." : trustHooks(file, places);
}

function show(agent: string, { undo, dryRun }: InstallFlags, done: ReturnType<typeof install>): void {
  const { file, changed, before, after, backup, notes } = done;
  const p = paint(1);
  const would = dryRun ? "would be " : "was ";
  const what = undo ? "removed from" : "added to";
  if (!changed) print(`${agent}: no change needed in ${escapeControl(file)}\n`);
  else
    print(
      `${agent}: the hook ${would}${what} ${escapeControl(file)}${after === undefined ? `, which ${would}removed` : ""}\n`,
    );
  if (changed && dryRun)
    for (const line of diff(before, after ?? "").split("\n"))
      print(
        `${p(line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : "dim", escapeControl(line))}\n`,
      );
  if (backup !== undefined) print(`  backup: ${escapeControl(backup)}\n`);
  for (const note of notes) print(`  ${escapeControl(note)}\n`);
}
