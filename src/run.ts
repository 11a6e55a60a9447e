import type { CoverageOptions } from "./coverage/options.js";
import { HermesError } from "./errors.js";
import { type FenceOptions, fenceOptions } from "./fence/options.js";
import type { Policy } from "./policy/policy.js";
import type { FenceLevel } from "./protection.js";
import type { AskOptions, SessionOptions, SessionResult } from "./session/options.js";
import type { Session, SessionEvents } from "./session/session.js";
import { fleetPolicy } from "./store/enrolled.js";
import { TRACE_DEFAULTS, type TraceOptions } from "./trace/options.js";

/** Milliseconds that a question waits for its answer. */
const DEFAULT_PATIENCE = 60_000;
/**
 * What a policy may want later: every call with an effect that a rule can name. Only `read_data`, `write_data` and `sync`
 * are left out: these calls are too frequent to stop.
 */
export const LIVE: readonly string[] = `
  %file %open %network %process %signal %mount %namespace %credential %kernel %ptrace %ipc %keyring
  fchdir getdents getdents64 ftruncate fallocate fchmod fchown fsetxattr fremovexattr ioctl fcntl
  mmap mprotect pkey_mprotect migrate_pages move_pages
  setpriority ioprio_set sched_setparam sched_setscheduler sched_setattr sched_setaffinity
  adjtimex settimeofday clock_settime clock_adjtime
`
  .trim()
  .split(/\s+/);
/** What HERMES itself stops beside any later policy on files (session/self-defence.ts). */
const BESIDE_LATER_POLICIES = ["sched_setaffinity", "sched_getaffinity"];

export interface RunOptions {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /**
   * Policy files, or policies made here with definePolicy(); all of them are asked, the strictest answer holds. Files
   * are decided in a thread of their own. Policies made here run on your event loop: they can use what your program
   * knows, cost a thread switch per call, and the program waits while your event loop is busy.
   */
  readonly policy?: string | Policy | readonly (string | Policy)[];
  readonly trace?: string | (Partial<TraceOptions> & Pick<TraceOptions, "file">);
  /** Files with prototypes of functions, besides those that come with HERMES (docs/prototypes.md). */
  readonly prototypes?: readonly string[];
  /** What is only observed is recorded by code of ours in the program, where that can be: fast, and cooperative. */
  readonly fast?: boolean;
  readonly coverage?: CoverageOptions;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Descriptors that become the program's stdin, stdout and stderr; -1 for closed. Default: ours. */
  readonly stdio?: readonly [number, number, number];
  readonly keepFds?: readonly number[];
  readonly limits?: Readonly<Record<string, readonly [bigint, bigint]>>;
  readonly door?: "auto" | "notify" | "trace";
  /** A level, or what exactly is asked of the fence (docs/fence.md). Default: standard. */
  readonly fence?: FenceLevel | FenceOptions;
  /** Milliseconds after which the session is ended; its exit code is then 124. */
  readonly timeout?: number;
  /** Load policies anew when one of their files changes. Default: yes. */
  readonly reload?: boolean;
  /** Ask through the `question` event what policies want a person to decide. Without, it is refused. */
  readonly ask?: Partial<AskOptions>;
  /** Calls and `%classes` that policies to come may want, so that they are stopped from the start. */
  readonly live?: readonly string[];
  /** Bit n - 1: the program starts with signal n ignored. */
  readonly ignoredSignals?: bigint;
  readonly blockedSignals?: bigint;
  readonly blockingStdio?: readonly (boolean | undefined)[];
  /** Gives the program a terminal session of its own. */
  readonly newSession?: boolean;
  /** Ends the session: every process of it is killed. */
  readonly signal?: AbortSignal;
}

/** Runs a program under policies and tells how it went. Rejects with a HermesError when it could not be started. */
export async function run(options: RunOptions, events?: SessionEvents): Promise<SessionResult> {
  return (await start(options, events)).result;
}

/** Starts it and gives it to you: `result`, `pid`, `reload()`, `end()`. */
export async function start(options: RunOptions, events?: SessionEvents): Promise<Session> {
  return startSession(sessionOptions(options), options, events);
}

/** A session with the policies and the end that its caller gave. */
export async function startSession(
  plain: SessionOptions,
  options: Pick<RunOptions, "policy" | "signal">,
  events?: SessionEvents,
): Promise<Session> {
  const { Session } = await import("./session/session.js");
  options.signal?.throwIfAborted();
  const inline = policiesOf(options).filter((policy) => typeof policy !== "string");
  for (const policy of inline) checkServed(policy);
  const session = await Session.start(plain, events, inline);
  const end = () => session.end();
  options.signal?.addEventListener("abort", end, { once: true });
  session.result.catch(() => {}).finally(() => options.signal?.removeEventListener("abort", end));
  return session;
}

/** Such a policy decides on the thread of its host, which ptrace does not listen to. */
function checkServed({ name, subscription: { functions = [], instructions = [] } }: Policy): void {
  const inCode = instructions.filter((interest) => interest.code !== undefined);
  if (functions.length + inCode.length === 0) return;
  throw new HermesError("UNAVAILABLE", {
    what: `what policy ${name} wants to see of functions and instructions`,
    why: "a policy that was made in this program decides on its thread; put it into a file and give the file's name",
  });
}

function policiesOf({ policy = [] }: Pick<RunOptions, "policy">): readonly (string | Policy)[] {
  return typeof policy === "string" || "decide" in policy ? [policy] : policy;
}

export function sessionOptions(options: RunOptions): SessionOptions {
  if (options.command.length === 0) throw new HermesError("USAGE", { message: "there is no command to run" });
  const { policy: _, signal: __, trace, ask, ...rest } = options;
  const traced = typeof trace === "string" ? { file: trace } : trace;
  // A host of a fleet: its policy holds here too, and so does the next one.
  const fleet = fleetPolicy();
  const live = [...(options.live ?? []), ...(fleet === undefined ? [] : LIVE)];
  return {
    ...rest,
    policies: [
      ...policiesOf(options).filter((policy) => typeof policy === "string"),
      ...(fleet === undefined ? [] : [fleet]),
    ],
    env: options.env ?? process.env,
    door: options.door ?? "auto",
    fence: fenceOptions(options.fence),
    reload: options.reload ?? true,
    ...(fleet !== undefined && { reload: true }),
    ...(live.length > 0 && { live: [...live, ...BESIDE_LATER_POLICIES] }),
    ...(ask && { ask: { patience: DEFAULT_PATIENCE, ...ask } }),
    ...(traced && { trace: { ...TRACE_DEFAULTS, ...traced } }),
  };
}
