import { HermesError } from "./errors.js";
import type { SessionOptions, SessionResult, TraceOptions } from "./session/options.js";
import type { SessionEvents } from "./session/session.js";

export interface RunOptions {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Policy files; all of them are asked, the strictest answer holds. */
  readonly policy?: string | readonly string[];
  readonly trace?: string | (Partial<TraceOptions> & { readonly file: string });
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Descriptors that become the program's stdin, stdout and stderr. Default: ours. */
  readonly stdio?: readonly [number, number, number];
  readonly keepFds?: readonly number[];
  readonly limits?: Readonly<Record<string, readonly [bigint, bigint]>>;
  readonly door?: "auto" | "notify" | "trace";
  readonly fence?: "none" | "standard";
  /** Gives the program a terminal session of its own. */
  readonly newSession?: boolean;
  /** Ends the session: every process of it is killed. */
  readonly signal?: AbortSignal;
}

/** Runs a program under policies and tells how it went. Rejects with a HermesError when it could not be started. */
export async function run(options: RunOptions, events?: SessionEvents): Promise<SessionResult> {
  const { Session } = await import("./session/session.js");
  options.signal?.throwIfAborted();
  const session = new Session(sessionOptions(options), events);
  const end = () => session.end();
  options.signal?.addEventListener("abort", end, { once: true });
  try {
    return await session.result;
  } finally {
    options.signal?.removeEventListener("abort", end);
  }
}

export function sessionOptions(options: RunOptions): SessionOptions {
  if (options.command.length === 0) throw new HermesError("USAGE", { message: "there is no command to run" });
  const { policy = [], trace, signal: _, ...rest } = options;
  const traced = typeof trace === "string" ? { file: trace } : trace;
  return {
    ...rest,
    policies: typeof policy === "string" ? [policy] : policy,
    env: options.env ?? process.env,
    door: options.door ?? "auto",
    fence: options.fence ?? "standard",
    ...(traced && { trace: { bytes: 64, onError: "stop", ...traced } }),
  };
}
