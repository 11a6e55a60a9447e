import type { Merged } from "../guard/config/tighten.js";

/** What a run was judged as, and what the kernel holds it to. Plain data: it crosses threads, and machines. */
export interface DeedOptions {
  /** Absolute. Nothing outside is changed, and the working directory stays inside. */
  readonly workspace: string;
  readonly home: string;
  /** The command line of the shell that reads the agent's own text: it does not leave the workspace. */
  readonly shell?: readonly string[];
  /** Where the run finds its programs: these may go to where they are installed. */
  readonly searchPath?: string;
  /** What may be changed besides, with all that is below. */
  readonly writable: readonly string[];
  /** Beginnings of paths that are not there for the run: HERMES's own records. */
  readonly closed?: readonly string[];
  /** Files that may be read although they look like secrets: credentials that were declared. */
  readonly readable?: readonly string[];
  /** Scripts that were approved with the command, by real path, as base64: whoever reads them reads this. */
  readonly scripts?: Readonly<Record<string, string>>;
  /** The names by which the command reaches them, absolute, with the real paths that these led to when it was approved. */
  readonly scriptNames?: Readonly<Record<string, string>>;
  /** Rules of the guard that a person has approved for this run: `git-destructive`. */
  readonly approved: readonly string[];
  /** `public`: the internet, and what runs of the same agent listen on. `none`: no network at all, not even loopback. */
  readonly network: "public" | "none";
  /** Unix sockets of our own, by absolute path, that may be connected to although there is no network. */
  readonly connect?: readonly string[];
  /** hermes.yaml, as it was read when the run was judged. */
  readonly config?: Merged;
}
