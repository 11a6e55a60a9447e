import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { HermesError } from "./errors.js";

/** The folder that a run may work in. */
export interface Workspace {
  readonly folder: string;
  /** The user named it; otherwise it is where the run starts. */
  readonly isNamed: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What the user names (an option, else HERMES_WORKSPACE), else where the run starts. */
export function workspaceOf(start: string, named?: string, env: Environment = process.env): Workspace {
  const word = named || env.HERMES_WORKSPACE || undefined;
  return { folder: real(resolve(word ?? start)), isNamed: word !== undefined };
}

/** Refuses a workspace that must not be opened to a program. `who` would open it, for the message. */
export function checkWorkspace(workspace: Workspace, who: string, home?: string): void {
  const problem = workspaceProblem(workspace, who, home);
  if (problem) throw problem;
}

/**
 * What is wrong with a workspace that the user did not name and that is more than a project: with it, a program would get
 * keys, or files that later start programs.
 */
export function workspaceProblem(
  { folder, isNamed }: Workspace,
  who: string,
  home = homedir(),
): HermesError | undefined {
  const why = isNamed ? undefined : whyTooMuch(folder, real(home));
  return why === undefined ? undefined : new HermesError("WORKSPACE", { who, folder, why });
}

function whyTooMuch(folder: string, home: string): string | undefined {
  if (folder === home) return "your home folder";
  if (folder === "/") return "the whole file system";
  if (isWithin(home, folder)) return `a folder above your home, ${home}`;
  for (const { path, holds } of NOT_PROJECTS) {
    const place = real(join(home, path));
    if (isWithin(folder, place)) return `where ${holds} are`;
    if (isWithin(place, folder)) return `the folder around ~/${path}, where ${holds} are`;
  }
  const mark = MARKS_OF_A_HOME.find((name) => existsSync(join(folder, name)));
  return mark && `a folder with secrets of its own (${mark})`;
}

/** Folders of a home that no project lies in. */
const NOT_PROJECTS = [
  { path: ".config/autostart", holds: "programs that start at login" },
  { path: ".config/systemd", holds: "services that start at login" },
  { path: ".ssh", holds: "SSH keys" },
  { path: ".gnupg", holds: "GnuPG keys" },
  { path: ".password-store", holds: "passwords" },
  { path: ".local/share/keyrings", holds: "passwords" },
  { path: ".aws", holds: "cloud credentials" },
  { path: ".azure", holds: "cloud credentials" },
  { path: ".config/gcloud", holds: "cloud credentials" },
  { path: ".kube", holds: "cluster credentials" },
  { path: ".docker", holds: "registry credentials" },
  { path: ".mozilla", holds: "browser sessions" },
] as const;

/** A folder that holds one of these is a home, or a copy of one. */
const MARKS_OF_A_HOME = [".ssh", ".gnupg", ".password-store"];

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

function real(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
