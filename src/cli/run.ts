import { resolve } from "node:path";
import type { CoverageOptions } from "../coverage/options.js";
import { inheritedLimits } from "../kernel/launch.js";
import { native } from "../kernel/native.js";
import { LIVE, type RunOptions, sessionOptions } from "../run.js";
import type { SessionOptions, SessionResult } from "../session/options.js";
import type { Thread } from "../session/thread.js";
import { FORMS } from "../trace/encoders.js";
import type { TraceOptions } from "../trace/options.js";
import { type Attended, finish } from "./attended.js";
import { type FenceFlags, fenceOf, timeoutOf } from "./fence.js";
import { takeSignals } from "./signals.js";
import { type StartState, takeStartState } from "./start-state.js";
import { hasTerminal } from "./terminal.js";
import { byteCount, callList, choice, functionList, usage, wholeNumber } from "./values.js";

export interface TraceFlags {
  trace?: string;
  events?: string;
  functions?: string[];
  prototypes?: string[];
  stack?: string | true;
  traceBytes: string;
  traceFormat?: string;
  traceSize?: string;
  traceKeep?: string;
  traceOverflow: string;
  onTraceError: string;
  fast?: boolean;
}

export interface AskFlags {
  ask: string;
  askTimeout: string;
  approvals?: string;
}

export interface RunFlags extends FenceFlags, TraceFlags, AskFlags {
  policy?: string[];
  target?: string;
  timeout?: string;
  door: string;
  cwd?: string;
  env?: string[];
  clearEnv?: boolean;
  fd?: string[];
  limit?: string[];
  reload: boolean;
  live?: string | true;
  orphans: string;
  quiet?: boolean;
  json?: boolean;
}

/** What other commands want of a run besides. */
export interface RunMore {
  readonly trace?: TraceOptions;
  readonly coverage?: CoverageOptions;
  readonly fast?: boolean;
  readonly ended?: (result: SessionResult) => void;
}

export async function runCommand(
  words: string[],
  flags: RunFlags,
  thread?: Thread,
  { ended, ...more }: RunMore = {},
): Promise<never> {
  const start = takeStartState();
  const options = { ...(await runOptions(words, flags, start)), ...more };
  native().hide();
  const run: Attended = {
    options: { ...sessionOptions(options), followStops: true },
    signals: takeSignals(start.ignoredSignals),
    started: Date.now(),
    killOrphans: choice("--orphans", flags.orphans, ["wait", "kill"]) === "kill",
    reloads: flags.reload && (flags.policy?.length ?? 0) > 0,
    quiet: flags.quiet ?? false,
    json: flags.json ?? false,
  };
  // Who supervises here ends here: nobody else learns how it went.
  if (!thread && !ended && isData(run.options)) return (await import("./here.js")).superviseHere(run);
  const { attend } = await import("./attend.js");
  const result = await attend(run, thread);
  ended?.(result);
  finish(run, result);
}

/** Policies that are data decide on this thread. Those that are programs must not: they could touch its stdout, or end it. */
function isData({ policies, ask }: SessionOptions): boolean {
  const files = ask?.approvals === undefined ? policies : [...policies, ask.approvals];
  return files.every((file) => /\.ya?ml$/.test(file));
}

async function runOptions(words: string[], flags: RunFlags, start: StartState): Promise<RunOptions> {
  const command = flags.target === undefined ? words : [flags.target, ...words];
  if (command.length === 0)
    throw usage("there is no command to run: hermes run [options] -- COMMAND [ARGUMENTS]");
  if (flags.stack !== undefined && flags.trace === undefined)
    throw usage("--stack says of which recorded calls stacks are kept: it needs --trace");
  return {
    command,
    stdio: start.stdio,
    ignoredSignals: start.ignoredSignals,
    blockedSignals: start.blockedSignals,
    blockingStdio: start.blockingStdio,
    policy: flags.policy ?? [],
    door: choice("--door", flags.door, ["auto", "notify", "trace"]),
    fence: fenceOf(
      flags,
      (flags.env ?? []).map((setting) => setting.replace(/=.*/s, "")),
    ),
    env: environment(flags, start.env),
    keepFds: (flags.fd ?? []).map((fd) => wholeNumber("--fd", fd)),
    reload: flags.reload,
    ...(flags.prototypes && { prototypes: flags.prototypes }),
    ...(flags.fast && { fast: true }),
    ...askOptions(flags),
    ...(flags.live !== undefined && {
      live: await callList("--live", flags.live === true ? LIVE.join(",") : flags.live),
    }),
    limits: { ...inheritedLimits(start.openFiles), ...Object.fromEntries((flags.limit ?? []).map(limit)) },
    ...(flags.cwd !== undefined && { cwd: flags.cwd }),
    ...(flags.timeout !== undefined && { timeout: timeoutOf(flags.timeout) }),
    ...(flags.trace !== undefined && { trace: await traceOptions(flags.trace, flags) }),
  };
}

/** A person can be asked where there is a terminal. */
export function askOptions(flags: AskFlags): Pick<RunOptions, "ask"> {
  const patience = timeoutOf(flags.askTimeout, "--ask-timeout");
  if (choice("--ask", flags.ask, ["terminal", "no"]) === "no" || !hasTerminal()) return {};
  return { ask: { patience, ...(flags.approvals !== undefined && { approvals: resolve(flags.approvals) }) } };
}

/** `--stack`: of every recorded call, or of some. */
export async function stackOption(stack: string | true | undefined): Promise<Pick<TraceOptions, "stack">> {
  if (stack === undefined) return {};
  return { stack: stack === true ? ["*"] : await callList("--stack", stack) };
}

/** Smaller parts would be more headers than records. */
const MIN_PART = 16 * 1024;

export async function traceOptions(file: string, flags: TraceFlags): Promise<TraceOptions> {
  const size = flags.traceSize === undefined ? undefined : byteCount("--trace-size", flags.traceSize);
  const keep = flags.traceKeep === undefined ? undefined : wholeNumber("--trace-keep", flags.traceKeep);
  if (size !== undefined && size < MIN_PART) throw usage(`--trace-size takes at least ${MIN_PART} bytes`);
  if (keep === 0) throw usage("--trace-keep takes at least 1: the part that is being written");
  if (keep !== undefined && size === undefined)
    throw usage("--trace-keep says how many parts are kept: --trace-size says when a part is full");
  return {
    file,
    bytes: wholeNumber("--trace-bytes", flags.traceBytes),
    overflow: choice("--trace-overflow", flags.traceOverflow, ["wait", "drop"]),
    onError: choice("--on-trace-error", flags.onTraceError, ["stop", "continue"]),
    ...(flags.traceFormat !== undefined && { form: choice("--trace-format", flags.traceFormat, FORMS) }),
    ...(size !== undefined && { size }),
    ...(keep !== undefined && { keep }),
    ...(await stackOption(flags.stack)),
    ...(flags.events !== undefined && { events: await callList("--events", flags.events) }),
    ...(flags.functions && { functions: await functionList("--functions", flags.functions) }),
  };
}

function environment(flags: RunFlags, inherited: StartState["env"]): Record<string, string | undefined> {
  const env: Record<string, string | undefined> = flags.clearEnv ? {} : { ...inherited };
  for (const setting of flags.env ?? []) {
    const at = setting.indexOf("=");
    if (at === 0) throw usage(`--env takes NAME=VALUE or NAME, not "${setting}"`);
    if (at < 0) delete env[setting];
    else env[setting.slice(0, at)] = setting.slice(at + 1);
  }
  return env;
}

function limit(setting: string): [string, [bigint, bigint]] {
  const match = /^(\w+)=(\d+|unlimited)(?::(\d+|unlimited))?$/.exec(setting);
  if (!match) throw usage(`--limit takes NAME=SOFT or NAME=SOFT:HARD, not "${setting}"`);
  const value = (text: string) => (text === "unlimited" ? 2n ** 64n - 1n : BigInt(text));
  return [match[1]!, [value(match[2]!), value(match[3] ?? match[2]!)]];
}
