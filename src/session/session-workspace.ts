import { type Workspace, workspaceOf } from "../nouns/workspace.js";
import type { SessionOptions } from "./options.js";

/** A session's workspace. The tools name theirs. */
export function sessionWorkspace({
  cwd = ".",
  workspace,
  deed,
}: Pick<SessionOptions, "cwd" | "workspace" | "deed">): Workspace {
  return workspaceOf(cwd, workspace ?? deed?.workspace);
}
