import type { Allowance } from "../../nouns/allowance.js";
import type { Finding } from "./finding.js";
import type { Advisories } from "./mcp/advisory.js";
import type { Kind, Subject } from "./subject.js";

/**
 * `standard`: risky effects ask, ordinary work inside the workspace runs. `strict`: everything that is not listed as
 * safe asks.
 */
export type Profile = "standard" | "strict";

/** One check of the intent plane. A layer keeps no state: it uses only its tables and the context. */
export interface Layer {
  readonly name: string;
  /** The kinds of subject that it judges. */
  readonly kinds: readonly Kind[];
  /**
   * Judges without I/O other than through the context. It should not throw: the guard treats an exception as a
   * refusal.
   */
  check(subject: Subject, context: Context): readonly Finding[];
  /** Findings that need the network (an address, an advisory). Runs last, and not after a refusal. */
  lookup?(subject: Subject, context: Context): Promise<readonly Finding[]>;
  /** How the layer read the subject, line by line, for `guard check`. */
  explain?(subject: Subject, context: Context): readonly string[];
  /** What the runtime check will see of the subject, should the layer have misread it. */
  explainLater?(subject: Subject, context: Context): readonly string[];
}

/**
 * What layers may know about the world. Everything is injected, so the guard runs on any operating system and in
 * tests.
 */
export interface Context {
  readonly profile: Profile;
  /** Absolute; the folder that the agent works in. */
  readonly workspace: string;
  /** Absolute; the working directory of a command. */
  readonly cwd: string;
  readonly home: string;
  /** Sections of `hermes.yaml` by layer name, already validated. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly files: Files;
  /** What hermes.yaml allows here. Layers do not report what it covers. */
  readonly allowed: readonly Allowance[];
  /** Every address of a name; rejects when it cannot be resolved. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** The known advisories of each package; rejects when no source answers. */
  readonly advisories?: Advisories;
  /** The subject was found inside another one: it runs as a part of that. */
  readonly within: boolean;
  /** Judges a subject found inside another one with all layers: the code of `python3 -c`, a script of a skill. */
  inspect(subject: Subject): readonly Finding[];
}

/** The file system operations that layers need. `undefined` means: does not exist, or unknown. */
export interface Files {
  realpath(path: string): string | undefined;
  lstat(
    path: string,
  ): { readonly kind: "file" | "folder" | "link" | "device" | "other"; readonly size: number } | undefined;
  read(path: string): string | undefined;
  /** The names in a folder. */
  list(path: string): readonly string[] | undefined;
}

export const NO_FILES: Files = {
  realpath: () => undefined,
  lstat: () => undefined,
  read: () => undefined,
  list: () => undefined,
};
