import type { MergedConfig } from "../guard/config/tighten.js";

/**
 * What the guard judged, and what the runtime check therefore holds the run to. Plain data: it crosses threads and
 * machines.
 */
export interface RuntimeCheckOptions {
  /** Absolute. The run changes nothing outside it, and its shell stays inside it. */
  readonly workspace: string;
  readonly home: string;
  /** The command line of the shell that reads the agent's text. This shell may not leave the workspace. */
  readonly shell?: readonly string[];
  /** The PATH of the run: programs may enter the folders where these programs are installed. */
  readonly searchPath?: string;
  /** Further folders that the run may change, with everything below them. */
  readonly writable: readonly string[];
  /** Prefixes of paths that the run cannot see: HERMES's own records. */
  readonly closed?: readonly string[];
  /** Prefixes below those that it can see all the same. */
  readonly closedExcept?: readonly string[];
  /** Files that the run may read although they look like secrets: declared credentials. */
  readonly readable?: readonly string[];
  /** Scripts approved with the command, as base64 by real path. The run reads these bytes, even if the files change. */
  readonly scripts?: Readonly<Record<string, string>>;
  /** The absolute names by which the command reaches these scripts, and the real paths that they led to at approval. */
  readonly scriptNames?: Readonly<Record<string, string>>;
  /** Guard rules that a person approved for this run: `git-destructive`. */
  readonly approved: readonly string[];
  /**
   * `public`: the internet, and ports on which runs of the same agent listen. `none`: no network, not even loopback.
   */
  readonly network: "public" | "none";
  /** Absolute paths of our own Unix sockets that the run may connect to even without a network. */
  readonly connect?: readonly string[];
  /** hermes.yaml as it was when the guard judged the run. */
  readonly config?: MergedConfig;
}
