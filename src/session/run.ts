import { closeSync } from "node:fs";
import { type FenceOptions, fenceOptions } from "../kernel/fence/options.js";
import type { Allowance } from "../nouns/allowance.js";
import { HermesError } from "../nouns/errors.js";
import { once } from "../nouns/once.js";
import type { FenceLevel } from "../nouns/protection.js";
import type { Policy } from "../policy/policy.js";
import { fleetPolicy } from "../record/store/fleet-policy.js";
import { TRACE_DEFAULTS, type TraceOptions } from "../record/trace/options.js";
import type { CapturedOutput } from "./captured-output.js";
import type { CoverageOptions } from "./coverage/options.js";
import type { AskOptions, SessionOptions, SessionResult } from "./options.js";
import type { Session, SessionEvents } from "./session.js";

/** How long, in milliseconds, a question waits for its answer. */
const DEFAULT_PATIENCE = 60_000;
/**
 * Calls that a later policy may want to see: every call with an effect that a rule can name. `read_data`,
 * `write_data` and `sync` are left out because these calls are too frequent to stop unasked.
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
/** What `--live` stops: those too. Whoever asks for it wants any answer on any call, and pays for it. */
export const LIVE_ALL: readonly string[] = [
  ...LIVE,
  ..."%read %write vmsplice tee fsync fdatasync sync_file_range syncfs sync msync".split(" "),
];
/** Calls that HERMES itself stops beside any later policy on files (session/self-defence.ts). */
const BESIDE_LATER_POLICIES = ["sched_setaffinity", "sched_getaffinity"];

export interface RunOptions {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /**
   * Policy files, or policies made here with definePolicy(). All of them decide each call and the strictest
   * verdict wins. Files are decided in a thread of their own. Policies made here run on your event loop: they
   * can use your program's state, cost a thread switch per call, and block the traced program while your
   * event loop is busy.
   */
  readonly policy?: string | Policy | readonly (string | Policy)[];
  readonly trace?: string | (Partial<TraceOptions> & Pick<TraceOptions, "file">);
  /** Files with prototypes of functions, besides those that come with HERMES (docs/reference/prototypes.md). */
  readonly prototypes?: readonly string[];
  /**
   * Record calls that are only observed by code inside the program, where possible. Fast, but cooperative:
   * observability only, not a security boundary.
   */
  readonly fast?: boolean;
  readonly coverage?: CoverageOptions;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /**
   * `${workspace}` of policies, and where a strict fence permits writing. Default: HERMES_WORKSPACE, or the working
   * directory, unless that is a home or larger.
   */
  readonly workspace?: string;
  /**
   * Descriptors that become the program's stdin, stdout and stderr; -1 for closed. Default: those of this
   * process.
   */
  readonly stdio?: readonly [number, number, number];
  /** Collect what the program writes instead: `stdout` and `stderr` of the result of run(). */
  readonly capture?: boolean;
  readonly keepFds?: readonly number[];
  readonly limits?: Readonly<Record<string, readonly [bigint, bigint]>>;
  readonly door?: "auto" | "notify" | "trace";
  /** What the user's hermes.yaml allows although these policies refuse it (docs/how-to/allow.md). The command line reads it. */
  readonly allowances?: readonly Allowance[];
  /** A level, or detailed options of the fence (docs/explanation/fence.md). Default: standard. */
  readonly fence?: FenceLevel | FenceOptions;
  /** Off: decide on reading files at each call, also where mounts could hold the rules (docs/explanation/view.md). Default: auto. */
  readonly view?: "auto" | "off";
  /**
   * Report each refusal to the `refused` event while the program runs, at most 20 a second. Rules on reading files are then
   * decided at each call instead of being held by mounts, which refuse silently.
   */
  readonly logRefusals?: boolean;
  /** After this many milliseconds the session ends with exit code 124. */
  readonly timeout?: number;
  /** Reload policies when one of their files changes. Default: yes. */
  readonly reload?: boolean;
  /**
   * Send questions of policies to the `question` event. Without it, HERMES refuses calls that a policy wants
   * approved.
   */
  readonly ask?: Partial<AskOptions>;
  /** Calls and `%classes` that later policies may need, so that the filter stops them from the start. */
  readonly live?: readonly string[];
  /** Bit n - 1: the program starts with signal n ignored. */
  readonly ignoredSignals?: bigint;
  readonly blockedSignals?: bigint;
  readonly blockingStdio?: readonly (boolean | undefined)[];
  /** Gives the program a terminal session of its own. */
  readonly newSession?: boolean;
  /** Aborting it ends the session and kills all of its processes. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a program under policies and returns the summary. Rejects with a HermesError when the program could
 * not be started.
 */
export async function run(
  options: RunOptions & { readonly capture: true },
  events?: SessionEvents,
): Promise<SessionResult & CapturedOutput>;
export async function run(options: RunOptions, events?: SessionEvents): Promise<SessionResult>;
export async function run(options: RunOptions, events: SessionEvents = {}): Promise<SessionResult> {
  const { capture, ...rest } = options;
  if (!capture) return (await start(rest, events)).result;
  const { OutputCapture } = await import("./captured-output.js");
  const output = new OutputCapture();
  const handOver = once(() => output.handedOver(closeSync));
  try {
    const session = await start(
      {
        ...rest,
        stdio: [options.stdio?.[0] ?? 0, ...output.ends],
        // A program does not expect pipes that do not block.
        blockingStdio: [options.blockingStdio?.[0], true, true],
      },
      {
        ...events,
        started: (pid, launcher) => {
          handOver();
          events.started?.(pid, launcher);
        },
      },
    );
    const result = await session.result;
    return { ...result, ...(await output.text()) };
  } finally {
    handOver();
  }
}

/** Starts the program and returns the session: `result`, `pid`, `reload()`, `end()`. */
export async function start(options: RunOptions, events?: SessionEvents): Promise<Session> {
  return startSession(sessionOptions(options), options, events);
}

/** Starts a session whose caller loaded the policies and controls its end. */
export async function startSession(
  plain: SessionOptions,
  options: Pick<RunOptions, "policy" | "signal">,
  events?: SessionEvents,
): Promise<Session> {
  const { Session } = await import("./session.js");
  options.signal?.throwIfAborted();
  const inline = policiesOf(options).filter((policy) => typeof policy !== "string");
  for (const policy of inline) checkServed(policy);
  const session = await Session.start(plain, events, inline);
  const end = () => session.end();
  options.signal?.addEventListener("abort", end, { once: true });
  session.result.catch(() => {}).finally(() => options.signal?.removeEventListener("abort", end));
  return session;
}

/**
 * A policy made in this program decides on the thread of its host. ptrace accepts requests only from the
 * supervisor thread.
 */
function checkServed({ name, subscription: { functions = [], instructions = [] } }: Policy): void {
  const inCode = instructions.filter((subscription) => subscription.code !== undefined);
  if (functions.length + inCode.length === 0) return;
  throw new HermesError("UNAVAILABLE", {
    what: `what policy ${name} wants to see of functions and instructions`,
    why: "a policy made in this program decides on its own thread; put it into a file and pass the file name",
  });
}

function policiesOf({ policy = [] }: Pick<RunOptions, "policy">): readonly (string | Policy)[] {
  return typeof policy === "string" || "decide" in policy ? [policy] : policy;
}

export function sessionOptions(options: RunOptions): SessionOptions {
  if (options.command.length === 0) throw new HermesError("USAGE", { message: "no command to run" });
  const { policy: _, signal: __, trace, ask, ...rest } = options;
  const traced = typeof trace === "string" ? { file: trace } : trace;
  // On a host of a fleet, the fleet's policy applies too, and so does each later version of it.
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
    ...(fleet !== undefined && { reload: true, required: [fleet] }),
    ...(live.length > 0 && { live: [...live, ...BESIDE_LATER_POLICIES] }),
    ...(ask && { ask: { patience: DEFAULT_PATIENCE, ...ask } }),
    ...(traced && { trace: { ...TRACE_DEFAULTS, ...traced } }),
  };
}
