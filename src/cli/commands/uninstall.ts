import { existsSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { AGENTS } from "../../agents/hooks/agents.js";
import { distrustHooks } from "../../agents/hooks/install/codex-trust.js";
import { install } from "../../agents/hooks/install/install.js";
import { userFile } from "../../intent/guard/config/config-files.js";
import { escapeControl } from "../../nouns/text.js";
import { stateFolder } from "../../record/store/state-folder.js";
import { print } from "../views/output.js";

interface UninstallFlags {
  readonly purge?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/**
 * Takes the hooks out of every agent's settings, for this folder and this user, so that agents work without HERMES again.
 * With `--purge` the records and the configuration go too.
 */
export async function uninstallCommand({
  purge = false,
  dryRun = false,
  json,
}: UninstallFlags): Promise<number> {
  const places = { project: process.cwd(), home: homedir(), env: process.env };
  const changed: string[] = [];
  for (const { name: agent } of AGENTS)
    for (const scope of ["project", "user"] as const) {
      const done = install({ agent, scope, undo: true, dryRun }, places);
      if (!done.changed) continue;
      changed.push(done.file);
      if (agent === "codex") await distrustHooks(done.file, places, dryRun);
    }
  const kept = [stateFolder(process.env, places.home), dirname(userFile({ workspace: ".", ...places }))];
  const own = [...new Set(kept)].filter((folder) => existsSync(folder));
  if (purge && !dryRun) for (const folder of own) rmSync(folder, { recursive: true });
  if (json) print(`${JSON.stringify({ dryRun, hooks: changed, folders: own, purged: purge && !dryRun })}\n`);
  else tell(changed, own, { purge, dryRun });
  return 0;
}

function tell(changed: readonly string[], own: readonly string[], { purge, dryRun }: UninstallFlags): void {
  const would = dryRun ? "would be " : "";
  if (changed.length === 0) print("No agent has the hook, in this folder or for this user.\n");
  for (const file of changed) print(`the hook ${would || "was "}removed from ${escapeControl(file)}\n`);
  for (const folder of own)
    print(
      purge
        ? `${would || "was "}removed: ${escapeControl(folder)}\n`
        : `kept: ${escapeControl(folder)} (records and configuration; --purge removes it)\n`,
    );
  print(
    "Hooks in other projects stay: run hermes uninstall there. The package: npm uninstall -g hermes-runtime\n",
  );
}
