import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { userFile } from "../../intent/guard/config/config-files.js";
import type { Allowance } from "../../nouns/allowance.js";
import { workspaceOf } from "../../nouns/workspace.js";

interface AllowancePlace {
  readonly policies: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly workspace?: string | undefined;
}

/** What the user's hermes.yaml allows to a run under these policies. The file is parsed only where it allows something. */
export async function allowanceOption({
  policies = [],
  cwd = ".",
  workspace,
}: AllowancePlace): Promise<{ allowances?: readonly Allowance[] }> {
  const home = homedir();
  const { folder } = workspaceOf(cwd, workspace);
  const places = { workspace: folder, home, env: process.env };
  if (policies.length === 0 || !/\ballow["']?\s*:/.test(textOf(userFile(places)))) return {};
  const { readAllowances } = await import("./read-allowances.js");
  const allowances = readAllowances(places);
  return allowances.length > 0 ? { allowances } : {};
}

/** Nothing where there is no file, or another user's home: that allows nothing. What is no file is the loader's to report. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    return NOT_OURS.has((error as NodeJS.ErrnoException).code ?? "") ? "" : "allow:";
  }
}

const NOT_OURS: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM"]);
