import { resolve } from "node:path";
import { inheritedLimits } from "../../kernel/binding/launch.js";
import { native } from "../../kernel/binding/native.js";
import { workspaceOf } from "../../nouns/workspace.js";
import { GRACE_MS, LONGEST_WAIT } from "../../people/approval/limits.js";
import { FORMS } from "../../record/trace/encoders.js";
import type { TraceOptions } from "../../record/trace/options.js";
import type { CoverageOptions } from "../../session/coverage/options.js";
import type { SessionOptions, SessionResult } from "../../session/options.js";
import { LIVE_ALL, type RunOptions, sessionOptions } from "../../session/run.js";
import type { Thread } from "../../session/thread.js";
import { allowanceOption } from "../options/allowances.js";
import { type FenceFlags, fenceOf, timeoutOf } from "../options/fence.js";
import {
  byteCount,
  callList,
  choice,
  functionList,
  usageError,
  wholeNumber,
  workspaceOption,
} from "../options/values.js";
import type { AskPlan } from "../run/asker.js";
import {
  type ControlledRun,
  finishRun,
  tellOfFirstSearch,
  warnOfUnknownProgram,
} from "../run/controlled-run.js";
import { RunRecorder, recordFailedRun } from "../run/record-run.js";
import { takeSignals } from "../run/signals.js";
import { type StartState, takeStartState } from "../run/start-state.js";
import { hasTerminal } from "../run/terminal.js";
import { LOGS } from "../views/refusal.js";

export interface RecordFlags {
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
  ask?: string;
  askTimeout?: string;
  approvals?: string;
}

export interface RunFlags extends FenceFlags, RecordFlags, AskFlags {
  policy?: string[];
  target?: string;
  timeout?: string;
  door: string;
  view: string;
  cwd?: string;
  workspace?: string;
  env?: string[];
  clearEnv?: boolean;
  fd?: string[];
  limit?: string[];
  reload: boolean;
  live?: string | true;
  orphans: string;
  log?: string;
  requireHit?: boolean;
  quiet?: boolean;
  json?: boolean;
}

/** The flags of a run that only records: the defaults of `hermes run`, without a summary. */
export const QUIET_RUN = {
  traceBytes: "0",
  traceOverflow: "wait",
  onTraceError: "continue",
  fence: "none",
  door: "auto",
  view: "auto",
  reload: true,
  orphans: "wait",
  ask: "terminal",
  askTimeout: "60s",
  quiet: true,
};

/** What other commands add to a run. */
interface RunExtras {
  readonly trace?: TraceOptions;
  readonly coverage?: CoverageOptions;
  readonly fast?: boolean;
  /** The command that the user called, as approvers see it. */
  readonly agent?: string;
  readonly ended?: (result: SessionResult) => void;
}

export async function runCommand(
  words: string[],
  flags: RunFlags,
  thread?: Thread,
  { ended, agent = "hermes run", ...more }: RunExtras = {},
): Promise<never> {
  const start = takeStartState();
  const options = { ...(await runOptions(words, flags, start)), ...more };
  native().hide();
  const ask = askPlan(flags, { agent, workspace: workspaceOf(flags.cwd ?? ".", flags.workspace).folder });
  const run: ControlledRun = {
    options: { ...sessionOptions(options), followStops: true, remember: true },
    agent,
    ...(ask && { ask }),
    signals: takeSignals(start.ignoredSignals),
    started: Date.now(),
    killOrphans: choice("--orphans", flags.orphans, ["wait", "kill"]) === "kill",
    ...(flags.log !== undefined && { log: choice("--log", flags.log, LOGS) }),
    reloads: flags.reload && (flags.policy?.length ?? 0) > 0,
    requireHit: flags.requireHit ?? false,
    quiet: flags.quiet ?? false,
    json: flags.json ?? false,
  };
  warnOfUnknownProgram(run);
  tellOfFirstSearch(run);
  // A run that is supervised on this thread ends this process: no caller learns its result.
  if (!thread && !ended && isData(run.options))
    return (await import("../run/supervise-main-thread.js")).superviseOnMainThread(run);
  const { controlRun } = await import("../run/control.js");
  const recorder = new RunRecorder(run);
  const result = await controlRun(run, recorder, thread).catch(async (error) => {
    await recordFailedRun(run, error);
    throw error;
  });
  ended?.(result);
  return finishRun(run, result, recorder);
}

/**
 * Declarative policies decide on this thread. Policies that are programs must not: they could use its stdout, or end it.
 */
function isData({ policies, ask }: SessionOptions): boolean {
  const files = ask?.approvals === undefined ? policies : [...policies, ask.approvals];
  return files.every((file) => /\.ya?ml$/.test(file));
}

async function runOptions(words: string[], flags: RunFlags, start: StartState): Promise<RunOptions> {
  const command = flags.target === undefined ? words : [flags.target, ...words];
  if (command.length === 0)
    throw usageError(
      `no command to run: hermes run [options] -- COMMAND [ARGUMENTS]${flags.trace === undefined ? "" : ` (-t takes the trace file, here ${flags.trace}; times of calls are -t of hermes trace)`}`,
    );
  if (flags.stack !== undefined && flags.trace === undefined)
    throw usageError("--stack needs --trace: it selects the recorded calls that keep their stack");
  return {
    command,
    stdio: start.stdio,
    ignoredSignals: start.ignoredSignals,
    blockedSignals: start.blockedSignals,
    blockingStdio: start.blockingStdio,
    policy: flags.policy ?? [],
    door: choice("--door", flags.door, ["auto", "notify", "trace"]),
    view: choice("--view", flags.view, ["auto", "off"]),
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
      live: await callList("--live", flags.live === true ? LIVE_ALL.join(",") : flags.live),
    }),
    limits: { ...inheritedLimits(start.openFiles), ...Object.fromEntries((flags.limit ?? []).map(limit)) },
    ...(flags.cwd !== undefined && { cwd: flags.cwd }),
    ...workspaceOption(flags.workspace),
    ...(await allowanceOption({ policies: flags.policy, cwd: flags.cwd, workspace: flags.workspace })),
    ...(flags.log !== undefined && { logRefusals: true }),
    ...(flags.timeout !== undefined && { timeout: timeoutOf(flags.timeout) }),
    ...(flags.trace !== undefined && { trace: await traceOptions(flags.trace, flags) }),
  };
}

/** Who answers: by default the terminal where there is one, else the queue. Undefined: every question is refused. */
export function askPlan(
  { ask, askTimeout }: AskFlags,
  { agent, workspace = ".", attached }: Pick<AskPlan, "agent" | "attached"> & { workspace?: string },
): AskPlan | undefined {
  const patience = askTimeout === undefined ? undefined : timeoutOf(askTimeout, "--ask-timeout");
  const where = choice("--ask", ask ?? (hasTerminal() ? "terminal" : "queue"), ["terminal", "queue", "no"]);
  if (where === "no" || (where === "terminal" && !hasTerminal())) return undefined;
  return {
    where,
    agent,
    workspace: resolve(workspace),
    ...(patience !== undefined && { patience }),
    ...(attached !== undefined && { attached }),
  };
}

/** The queue bounds how long a question waits; the program is held for as long as the longest of them. */
export function askOptions(flags: AskFlags): Pick<RunOptions, "ask"> {
  if (!askPlan(flags, { agent: "" })) return {};
  const patience = LONGEST_WAIT + 2 * GRACE_MS;
  return { ask: { patience, ...(flags.approvals !== undefined && { approvals: resolve(flags.approvals) }) } };
}

/** `--stack`: for every recorded call, or for some. */
export async function stackOption(stack: string | true | undefined): Promise<Pick<TraceOptions, "stack">> {
  if (stack === undefined) return {};
  return { stack: stack === true ? ["*"] : await callList("--stack", stack) };
}

/** Smaller parts would hold more headers than records. */
const MIN_PART = 16 * 1024;

export async function traceOptions(file: string, flags: RecordFlags): Promise<TraceOptions> {
  const size = flags.traceSize === undefined ? undefined : byteCount("--trace-size", flags.traceSize);
  const keep = flags.traceKeep === undefined ? undefined : wholeNumber("--trace-keep", flags.traceKeep);
  if (size !== undefined && size < MIN_PART)
    throw usageError(`--trace-size takes at least ${MIN_PART} bytes`);
  if (keep === 0) throw usageError("--trace-keep takes at least 1: the part that is being written");
  if (keep !== undefined && size === undefined)
    throw usageError("--trace-keep needs --trace-size, which says when a part is full");
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
    if (at === 0) throw usageError(`--env takes NAME=VALUE or NAME, not "${setting}"`);
    if (at < 0) delete env[setting];
    else env[setting.slice(0, at)] = setting.slice(at + 1);
  }
  return env;
}

function limit(setting: string): [string, [bigint, bigint]] {
  const match = /^(\w+)=(\d+|unlimited)(?::(\d+|unlimited))?$/.exec(setting);
  if (!match) throw usageError(`--limit takes NAME=SOFT or NAME=SOFT:HARD, not "${setting}"`);
  const value = (text: string) => (text === "unlimited" ? 2n ** 64n - 1n : BigInt(text));
  return [match[1]!, [value(match[2]!), value(match[3] ?? match[2]!)]];
}
