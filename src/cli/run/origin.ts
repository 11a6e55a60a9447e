import { readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { findProgram } from "../../session/find-program.js";

/**
 * Why a program is not one that this machine's administrator installed, in words; undefined where it is. A script that an
 * interpreter is given counts by where it lies alone.
 */
export function unknownOrigin(
  words: readonly string[],
  {
    cwd = ".",
    home = homedir(),
    path = process.env.PATH,
  }: { cwd?: string; home?: string; path?: string | undefined } = {},
): string | undefined {
  const [program = "", ...others] = words;
  const file = found(program, path, cwd);
  const downloads = downloadFolders(home);
  const lies = [file, ...others.map((word) => real(resolve(cwd, word)))].find((one) =>
    downloads.some((folder) => one?.path.startsWith(`${folder}/`)),
  );
  if (lies) return `${lies.path} lies in a folder of downloads`;
  return file && file.owner !== 0 ? `${file.path} does not belong to root` : undefined;
}

interface FoundFile {
  readonly path: string;
  readonly owner: number;
}

/** What cannot be found is reported when it is started. */
function found(program: string, path: string | undefined, cwd: string): FoundFile | undefined {
  try {
    return real(resolve(cwd, findProgram(program, path, cwd)));
  } catch {
    return undefined;
  }
}

/** A regular file, by its real path. */
function real(path: string): FoundFile | undefined {
  try {
    const whole = realpathSync.native(path);
    const info = statSync(whole);
    return info.isFile() ? { path: whole, owner: info.uid } : undefined;
  } catch {
    return undefined;
  }
}

/** ~/Downloads, and what the desktop calls so in the user's language. */
function downloadFolders(home: string): string[] {
  const named = /^XDG_DOWNLOAD_DIR="(?:\$HOME\/)?([^"]+)"/m.exec(
    textOf(join(home, ".config/user-dirs.dirs")),
  )?.[1];
  return ["Downloads", ...(named === undefined ? [] : [named])].flatMap((folder) => {
    const path = resolve(home, folder);
    try {
      // A desktop without such a folder names the home instead.
      return path === home ? [] : [realpathSync.native(path)];
    } catch {
      return [];
    }
  });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
