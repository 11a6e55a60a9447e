import type { Finding } from "./finding.js";
import type { Advisories } from "./mcp/advisory.js";
import type { Kind, Subject } from "./subject.js";

/** `standard`: risky effects ask, ordinary work inside the workspace runs. `strict`: what is not listed as safe asks. */
export type Profile = "standard" | "strict";

/** One check of the intent plane. A layer keeps no state: what it must know is in its tables and in the context. */
export interface Layer {
  readonly name: string;
  /** The kinds of subject that it has an opinion on. */
  readonly kinds: readonly Kind[];
  /** Decides on what it is given: no I/O but through the context, no throwing (the guard takes that as a refusal). */
  check(subject: Subject, context: Context): readonly Finding[];
  /** What only the network knows (an address, an advisory). Asked last, and not at all when something denied already. */
  lookup?(subject: Subject, context: Context): Promise<readonly Finding[]>;
  /** How the layer understood the subject, line by line, for `guard check`. */
  explain?(subject: Subject, context: Context): readonly string[];
}

/** What layers may know of the world. All of it is injected: the guard runs on any operating system, and in tests. */
export interface Context {
  readonly profile: Profile;
  /** Absolute; what the agent works in. */
  readonly workspace: string;
  /** Absolute; where a command would start. */
  readonly cwd: string;
  readonly home: string;
  /** Sections of `hermes.yaml` by layer name, already validated. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly files: Files;
  /** Every address of a name; rejects when it cannot be resolved. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** For each package what is known against it; rejects when nobody can say. */
  readonly advisories?: Advisories;
  /** This subject was found inside another one: it runs as a part of that, not in a place of its own. */
  readonly within: boolean;
  /** A subject found inside another one (the code of `python3 -c`, a script of a skill), judged by all layers. */
  inspect(subject: Subject): readonly Finding[];
}

/** The little of a file system that layers ask for. `undefined` means: does not exist, or cannot be known. */
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
