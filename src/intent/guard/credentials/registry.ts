import { isAbsolute, join } from "node:path";
import { HermesError } from "../../../nouns/errors.js";
import type { Files } from "../layer.js";
import { hasTraversalComponent, isWindowsAbsolute } from "../paths/components.js";
import { disguise } from "../paths/disguise.js";
import { validateWithinDir } from "../paths/within.js";

/** A file that is mounted into a sandbox, read-only. */
export interface CredentialFile {
  readonly relative: string;
  /** Its path on this machine, links resolved. */
  readonly path: string;
  readonly readOnly: true;
}

/**
 * The credential files that the skills of one session declared (`required_credential_files`, relative to
 * HERMES_HOME). One object per session: sessions do not see each other's files.
 */
export class CredentialFiles {
  readonly #home: string;
  readonly #files: Pick<Files, "realpath" | "lstat">;
  readonly #registered = new Map<string, CredentialFile>();

  constructor(home: string, files: Pick<Files, "realpath" | "lstat">) {
    this.#home = home;
    this.#files = files;
  }

  /** Throws when the path could lead outside HERMES_HOME. Returns whether the file exists. */
  register(relative: string): boolean {
    const refuse = (why: string) =>
      new HermesError("CREDENTIAL_FILE", { path: JSON.stringify(relative), why });
    if (relative.trim() === "") throw refuse("it is empty");
    const trick = disguise(relative);
    if (trick !== undefined) throw refuse(trick.reason);
    if (isAbsolute(relative) || isWindowsAbsolute(relative) || relative.startsWith("~"))
      throw refuse("it must be relative to HERMES_HOME");
    if (hasTraversalComponent(relative)) throw refuse("it has a .. component");
    const path = join(this.#home, relative);
    if (!validateWithinDir(path, this.#home, this.#files)) throw refuse("it leads out of HERMES_HOME");
    const real = this.#files.realpath(path);
    if (real === undefined || this.#files.lstat(real)?.kind !== "file") return false;
    this.#registered.set(relative, { relative, path: real, readOnly: true });
    return true;
  }

  /** Checked before each mount: a file that was replaced by a link to elsewhere is left out. */
  list(): readonly CredentialFile[] {
    return [...this.#registered.values()].filter(({ relative, path }) => {
      const now = this.#files.realpath(join(this.#home, relative));
      return now === path && validateWithinDir(now, this.#home, this.#files);
    });
  }

  clear(): void {
    this.#registered.clear();
  }
}
