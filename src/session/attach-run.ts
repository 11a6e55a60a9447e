import { readLink } from "../kernel/process/proc.js";
import { attachable } from "./attach.js";
import type { SessionOptions, SessionResult } from "./options.js";
import { type RunOptions, sessionOptions, startSession } from "./run.js";
import type { Session, SessionEvents } from "./session.js";

export interface AttachOptions
  extends Pick<
    RunOptions,
    "policy" | "trace" | "door" | "reload" | "ask" | "live" | "signal" | "workspace" | "logRefusals"
  > {
  readonly pid: number;
  /**
   * Install a filter even if the process has one already, or must give up new privileges for good
   * (set-user-id programs then lose theirs). Without a filter, every call of such a process stops.
   */
  readonly filter?: boolean;
}

/**
 * Mediates a running process until it ends or `signal` is aborted. After an abort the process runs on without
 * HERMES.
 */
export async function attach(options: AttachOptions, events?: SessionEvents): Promise<SessionResult> {
  return (await startAttached(options, events)).result;
}

/** Like attach(), but returns the session: `end()` detaches from the process. */
export async function startAttached(options: AttachOptions, events?: SessionEvents): Promise<Session> {
  return startSession(attachedOptions(options), options, events);
}

export function attachedOptions({ pid, filter = false, ...rest }: AttachOptions): SessionOptions {
  const { argv, name, cwd } = attachable(pid);
  const command = argv.length > 0 ? argv : [name];
  return {
    ...sessionOptions({ ...rest, command, fence: "none" }),
    file: readLink(`/proc/${pid}/exe`),
    ...(cwd !== "" && { cwd }),
    attach: { pid, filter },
  };
}
