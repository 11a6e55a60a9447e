import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { RunOrder } from "../backend.js";
import type { Surroundings } from "./messages.js";

/** A process whose stdin and stdout reach a `hermes remote`: a container, or ssh. */
export interface Link {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  /** For messages: `the container`, `build.example`. */
  readonly where: string;
  /** The order in the words of the other side: its paths. */
  readonly order: RunOrder;
  /** Whose home is to be protected over there. */
  readonly home: "ours" | "theirs";
  /** Contents of credential files that cannot be reached from there. */
  readonly credentials: readonly { readonly relative: string; readonly contents: Buffer }[];
  readonly surroundings?: Surroundings;
  /** What it means that the process ended like this without having told a result. */
  explain(exitCode: number | null, stderr: string): string;
  /** Ends the other side by force, when it does not answer. */
  sever(): Promise<void>;
  /** Gives back whatever was made for it; called once, when the process is gone. */
  release(): void | Promise<void>;
}
