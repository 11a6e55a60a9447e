import { readLink } from "./process/proc.js";
import { type RunOptions, sessionOptions, startSession } from "./run.js";
import { attachable } from "./session/attach.js";
import type { SessionOptions, SessionResult } from "./session/options.js";
import type { Session, SessionEvents } from "./session/session.js";

export interface AttachOptions
  extends Pick<RunOptions, "policy" | "trace" | "door" | "reload" | "ask" | "live" | "signal"> {
  readonly pid: number;
  /**
   * Put a filter into it also where it has one of its own, or has to give up new privileges for good (setuid programs).
   * Without, every call of such a process stops.
   */
  readonly filter?: boolean;
}

/** Watches over a process that runs already, until it ends or `signal` is aborted: then it runs on without us. */
export async function attach(options: AttachOptions, events?: SessionEvents): Promise<SessionResult> {
  return (await startAttached(options, events)).result;
}

/** The same, and gives you the session: `end()` leaves the process. */
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
