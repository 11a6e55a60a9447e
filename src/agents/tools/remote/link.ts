import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { RunOrder } from "../backend.js";
import type { RemoteHost } from "./messages.js";

/** A process whose stdin and stdout reach a `hermes remote`: a container, or ssh. */
export interface RemoteLink {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  /** For messages: `the container`, `build.example`. */
  readonly where: string;
  /** The order with the paths of the far side. */
  readonly order: RunOrder;
  /** The user whose home must be protected there. */
  readonly home: "ours" | "theirs";
  /** Contents of credential files that the far side cannot reach. */
  readonly credentials: readonly { readonly relative: string; readonly contents: Buffer }[];
  readonly surroundings?: RemoteHost;
  /** Explains why the process ended without a result. */
  explain(exitCode: number | null, stderr: string): string;
  /** Kills the far side when it does not answer. */
  sever(): Promise<void>;
  /** Releases the link's resources; called once, after the process has ended. */
  release(): void | Promise<void>;
}
