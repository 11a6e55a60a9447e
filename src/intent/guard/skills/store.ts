import { createHash, randomUUID } from "node:crypto";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { HermesError } from "../../../nouns/errors.js";
import type { Action, Finding } from "../finding.js";

/** Judges the skill in a folder. */
export type ScanSkill = (
  folder: string,
  source: string | undefined,
) => { readonly action: Action; readonly findings: readonly Finding[] };

/** A skill that waits for the operator. */
interface Quarantined {
  readonly id: string;
  readonly name: string;
  readonly source?: string;
  readonly digest: string;
  readonly at: string;
  readonly action: Action;
  readonly findings: readonly Finding[];
}

export type InstallOutcome =
  | { readonly installed: true; readonly name: string; readonly digest: string }
  | { readonly installed: false; readonly quarantined: Quarantined };

/**
 * The folder of installed skills. A new skill is copied, scanned, and only then moved into place by one rename. A
 * skill that fails the scan is never where an agent would find it, and the one that it was to replace stays. It waits
 * in quarantine for a person, with its findings beside it, not inside it.
 */
export class SkillStore {
  readonly #root: string;
  readonly #scan: ScanSkill;

  constructor(root: string, scan: ScanSkill) {
    this.#root = root;
    this.#scan = scan;
  }

  folderOf(name: string): string {
    return join(this.#root, "skills", checkedName(name));
  }

  list(): string[] {
    return names(join(this.#root, "skills")).filter((name) => !name.startsWith("."));
  }

  /** Installs or replaces a skill from a folder. */
  install(from: string, name: string, source?: string): InstallOutcome {
    return this.#admit(name, source, (draft) => copy(from, draft));
  }

  /** Changes files of an installed skill, or creates a new one. `undefined` removes a file. */
  edit(name: string, changes: Readonly<Record<string, string | undefined>>): InstallOutcome {
    return this.#admit(name, undefined, (draft) => {
      if (existsSync(this.folderOf(name))) copy(this.folderOf(name), draft);
      for (const [path, text] of Object.entries(changes)) {
        const file = inside(draft, path);
        if (text === undefined) rmSync(file, { force: true });
        else {
          mkdirSync(dirname(file), { recursive: true });
          writeFileSync(file, text);
        }
      }
    });
  }

  remove(name: string): void {
    rmSync(this.folderOf(name), { recursive: true, force: true });
  }

  quarantined(): Quarantined[] {
    const folder = join(this.#root, "quarantine");
    return names(folder).flatMap((id) => {
      const file = join(folder, id, "findings.json");
      return existsSync(file) ? [JSON.parse(readFileSync(file, "utf8")) as Quarantined] : [];
    });
  }

  /** A person approves it as it was scanned; a later change voids the approval. */
  approve(id: string): InstallOutcome {
    const waiting = this.#waiting(id);
    const folder = join(this.#root, "quarantine", id);
    if (skillDigest(join(folder, "skill")) !== waiting.digest)
      throw new HermesError("SKILL", {
        name: waiting.name,
        message: "it changed while it was in quarantine; install it again",
      });
    const draft = this.#draft();
    copy(join(folder, "skill"), draft);
    if (skillDigest(draft) !== waiting.digest) {
      rmSync(draft, { recursive: true, force: true });
      throw new HermesError("SKILL", {
        name: waiting.name,
        message: "it changed while it was being approved",
      });
    }
    this.#moveIn(draft, waiting.name);
    rmSync(folder, { recursive: true, force: true });
    return { installed: true, name: waiting.name, digest: waiting.digest };
  }

  reject(id: string): void {
    this.#waiting(id);
    rmSync(join(this.#root, "quarantine", id), { recursive: true, force: true });
  }

  #waiting(id: string): Quarantined {
    const found = this.quarantined().find((one) => one.id === id || one.name === id);
    if (!found || found.id !== id)
      throw new HermesError("SKILL", {
        name: id,
        message: found ? `its id is ${found.id}` : "no skill with this id is in quarantine",
      });
    return found;
  }

  #draft(): string {
    const folder = join(this.#root, "drafts");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return join(folder, randomUUID());
  }

  #admit(name: string, source: string | undefined, fill: (draft: string) => void): InstallOutcome {
    checkedName(name);
    const draft = this.#draft();
    try {
      fill(draft);
      if (!existsSync(join(draft, "SKILL.md")))
        throw new HermesError("SKILL", { name, message: "it has no SKILL.md" });
      const { action, findings } = this.#scan(draft, source);
      const digest = skillDigest(draft);
      if (action === "allow") {
        this.#moveIn(draft, name);
        return { installed: true, name, digest };
      }
      return {
        installed: false,
        quarantined: this.#quarantine(draft, { name, digest, action, findings, ...(source && { source }) }),
      };
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }

  #quarantine(draft: string, about: Omit<Quarantined, "id" | "at">): Quarantined {
    const id = `${about.name}-${about.digest.slice(0, 12)}`;
    const folder = join(this.#root, "quarantine", id);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    renameSync(draft, join(folder, "skill"));
    const entry: Quarantined = { id, at: new Date().toISOString(), ...about };
    writeFileSync(join(folder, "findings.json"), `${JSON.stringify(entry, undefined, 2)}\n`, { mode: 0o600 });
    return entry;
  }

  /** One rename puts the new one in place; if it fails, another puts the old one back. */
  #moveIn(draft: string, name: string): void {
    const target = this.folderOf(name);
    mkdirSync(dirname(target), { recursive: true });
    const old = `${this.#draft()}.old`;
    const replaces = existsSync(target);
    if (replaces) renameSync(target, old);
    try {
      renameSync(draft, target);
    } catch (error) {
      if (replaces) renameSync(old, target);
      throw error;
    }
    rmSync(old, { recursive: true, force: true });
  }
}

function names(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

function checkedName(name: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(name)) return name;
  throw new HermesError("SKILL", {
    name,
    message: "a skill's name may have only letters, digits, dots, hyphens and underscores",
  });
}

function inside(folder: string, path: string): string {
  const file = join(folder, path);
  if (!file.startsWith(folder + sep))
    throw new HermesError("SKILL", { name: path, message: "this path leads out of the skill" });
  return file;
}

/** A skill has no history: `.git` is neither copied nor counted. */
function copy(from: string, to: string): void {
  const filter = (path: string) => path === from || basename(path) !== ".git";
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter });
}

/** The digest of all names, kinds and contents, of executable bits, and of link targets. */
export function skillDigest(folder: string): string {
  const hash = createHash("sha256");
  const add = (...values: readonly (string | number | Buffer)[]) => {
    // Each with its length, so that different folders never give the same text.
    for (const value of values) {
      const bytes = Buffer.isBuffer(value) ? value : Buffer.from(String(value));
      hash.update(`${bytes.length}:`).update(bytes);
    }
  };
  const visit = (path: string, own: string): void => {
    const info = lstatSync(path);
    if (info.isDirectory()) {
      const names = readdirSync(path).filter((name) => name !== ".git");
      add(own, "folder", names.length);
      for (const name of names.sort()) visit(join(path, name), `${own}/${name}`);
    } else if (info.isSymbolicLink()) add(own, "link", readlinkSync(path, { encoding: "buffer" }));
    else if (info.isFile()) add(own, "file", info.mode & 0o7111, readFileSync(path));
    else add(own, "special", info.mode);
  };
  visit(folder, "");
  return hash.digest("hex");
}
