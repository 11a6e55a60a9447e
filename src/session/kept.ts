import { readlinkSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { projectFile, userFile } from "../guard/config/places.js";
import type { Policy } from "../policy/policy.js";
import { stateFolder } from "../store/state-folder.js";
import { prototypeFiles } from "./observed.js";
import type { SessionOptions } from "./options.js";

/** What the session's policies were made of and are loaded from, and what else HERMES reads later or writes. */
export function filesToKeep(options: SessionOptions, policies: readonly Policy[]): string[] {
  const { trace, ask, cwd = ".", deed, prototypes } = options;
  const files = [
    ...options.policies.map((path) => resolve(path)),
    ...policies.flatMap((policy) => [...(policy.files ?? []), ...(policy.sought ?? [])]),
    ...prototypeFiles(prototypes, policies),
    ...(ask?.approvals === undefined ? [] : [resolve(cwd, ask.approvals)]),
    ...(typeof trace?.file === "string" ? [trace.file] : []),
    ...(deed?.closed ?? []).flatMap(withBeside),
  ];
  // Where no policy decides, the program is as free as its user.
  const own = policies.length > 0 ? ownFiles(deed?.workspace ?? resolve(cwd)) : [];
  return keptFiles([...files, ...own]);
}

/** As many links as the kernel follows (path_resolution(7)). */
const MAX_LINKS = 40;

/**
 * The names that the program must not change, so that each of these paths goes on leading where it leads: every link on
 * the way, and the file, which need not exist yet. All are real paths. The folders above them are not listed: the
 * self-defence refuses to rename, to replace or to mount over them by that. Paths to devices and folders are left out.
 */
export function keptFiles(paths: readonly string[]): string[] {
  return [...new Set(paths.filter(mayBeFile).flatMap((path) => namesOnTheWay(resolve(path))))];
}

/** Also where there is nothing, or we may not look. */
function mayBeFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return true;
  }
}

/** Resolves a path as the kernel does; returns every link that it passes, and where it ends. */
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

/** What SQLite and HERMES keep beside a store, some of it only for a while. */
const BESIDE_STORE = ["", "-wal", "-shm", "-journal", ".key", ".pub", ".head", ".host"];

/**
 * Where HERMES looks for its configuration and keeps its records, for this user and in this project, whether the files
 * exist or not: the next run would read a hermes.yaml that the program made.
 */
export function ownFiles(
  workspace: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
  home = homedir(),
): string[] {
  const places = { workspace, home, env };
  const config = [userFile(places), projectFile(places)];
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
