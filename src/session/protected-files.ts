import { existsSync, readlinkSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { projectFile, userFiles } from "../intent/guard/config/config-files.js";
import type { Policy } from "../policy/policy.js";
import { stateFolder } from "../record/store/state-folder.js";
import { prototypeFiles } from "./observed-functions.js";
import type { SessionOptions } from "./options.js";
import { sessionWorkspace } from "./session-workspace.js";

/** The files of the session's policies, and everything else that HERMES reads later or writes. */
export function filesToProtect(options: SessionOptions, policies: readonly Policy[]): string[] {
  const { trace, ask, cwd = ".", deed, prototypes } = options;
  const files = [
    ...options.policies.map((path) => resolve(path)),
    ...policies.flatMap((policy) => [...(policy.files ?? []), ...(policy.sought ?? [])]),
    ...prototypeFiles(prototypes, policies),
    ...(ask?.approvals === undefined ? [] : [resolve(cwd, ask.approvals)]),
    ...(typeof trace?.file === "string" ? [trace.file] : []),
    ...(deed?.closed ?? []).flatMap(withBeside),
  ];
  // Without a policy, the program has all rights of its user.
  const own = policies.length > 0 ? projectFolders(options).flatMap((folder) => hermesFiles(folder)) : [];
  // Of a folder, self-defence protects all that is in it.
  return [...protectedNames([...files, ...own]), ...(policies.length > 0 ? namesOnTheWay(scanFolder()) : [])];
}

/**
 * Where HERMES remembers what it found when it looked for files to hide (kernel/view/name-scan.ts). A forged memory would
 * leave some of them out.
 */
export function scanFolder(): string {
  return join(resolve(stateFolder(process.env, homedir())), "scan");
}

/**
 * Of these files, those that alone are not worth a stop: a project's configuration that does not exist. One that the
 * program creates can only make things stricter (intent/guard/config/tighten.ts).
 */
export function notWorthStops(options: SessionOptions): string[] {
  return projectFolders(options).flatMap((workspace) => {
    const project = projectFile({ workspace, home: homedir(), env: process.env });
    return existsSync(project) ? [] : protectedNames([project, `${project}.lock`]);
  });
}

/** Where this run, and the next one that starts in the same folder, look for a project's configuration. */
function projectFolders(options: SessionOptions): string[] {
  const { folder } = sessionWorkspace(options);
  return options.deed ? [folder] : [...new Set([folder, resolve(options.cwd ?? ".")])];
}

/** The kernel's limit of links (path_resolution(7)). */
const MAX_LINKS = 40;

/**
 * The names that the program must not change, so that each of these paths keeps its target: every link on the
 * way, and the file, which need not exist yet. All are real paths. The folders above them are not listed: the
 * self-defence refuses to rename, replace or mount over them. Paths to devices and folders are left out.
 */
export function protectedNames(paths: readonly string[]): string[] {
  return [...new Set(paths.filter(mayBeFile).flatMap((path) => namesOnTheWay(resolve(path))))];
}

/** True also when the path does not exist, or we may not look. */
function mayBeFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return true;
  }
}

/** Resolves a path as the kernel does. Returns every link on the way, and the final path. */
function namesOnTheWay(path: string): string[] {
  const names: string[] = [];
  const left = path.split("/").filter(Boolean);
  let at = "";
  let links = 0;
  while (left.length > 0) {
    const part = left.shift()!;
    if (part === ".") continue;
    if (part === "..") {
      at = at.slice(0, at.lastIndexOf("/"));
      continue;
    }
    const here = `${at}/${part}`;
    const target = targetOf(here);
    if (target === undefined) {
      at = here;
      continue;
    }
    names.push(here);
    if (++links > MAX_LINKS) return names;
    left.unshift(...target.split("/").filter(Boolean));
    if (target.startsWith("/")) at = "";
  }
  return [...names, at === "" ? "/" : at];
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Files that SQLite and HERMES keep beside a store, some of them temporary. */
const BESIDE_STORE = ["", "-wal", "-shm", "-journal", ".key", ".pub", ".head", ".host", ".runs", ".runs.1"];

/**
 * Where HERMES looks for its configuration and keeps its records, for this user and this project, whether the
 * files exist or not: the next run would read a hermes.yaml that the program created.
 */
function hermesFiles(
  workspace: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
  home = homedir(),
): string[] {
  const places = { workspace, home, env };
  const config = [...userFiles(places), projectFile(places)];
  return [...config.flatMap((file) => [file, `${file}.lock`]), ...storeFiles(env, home)];
}

function storeFiles(env: Readonly<Record<string, string | undefined>>, home: string): string[] {
  const named = env.HERMES_STORE ?? "";
  const own = join(stateFolder(env, home), "hermes.db");
  const stores = /^(?!sqlite:)[a-z][a-z0-9+.-]*:/i.test(named)
    ? [own]
    : [own, ...(named === "" ? [] : [named.replace(/^sqlite:/, "")])];
  return stores.flatMap(withBeside);
}

function withBeside(store: string): string[] {
  return BESIDE_STORE.map((suffix) => `${store}${suffix}`);
}
