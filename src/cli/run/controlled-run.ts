import { existsSync } from "node:fs";
import { isatty } from "node:tty";
import { escapeControl } from "../../nouns/text.js";
import type { SessionOptions, SessionResult } from "../../session/options.js";
import { scanFolder } from "../../session/protected-files.js";
import type { Refusal } from "../../session/refusal-log.js";
import { sessionWorkspace } from "../../session/session-workspace.js";
import { exit, say } from "../views/output.js";
import { type LogForm, leftOutText, refusalLine } from "../views/refusal.js";
import { neverApplied, renderSummary } from "../views/summary.js";
import type { AskPlan } from "./asker.js";
import { unknownOrigin } from "./origin.js";
import { RunRecorder } from "./record-run.js";

/** A run of the command line, as its control thread knows it. Plain data: it crosses to another thread. */
export interface ControlledRun {
  readonly options: SessionOptions;
  /** The command that the user called. */
  readonly agent: string;
  /** How its questions are asked; absent: they are refused. */
  readonly ask?: AskPlan;
  /** Where signals are heard of: what takeSignals() gave. */
  readonly signals: number;
  /** Milliseconds since 1970. */
  readonly started: number;
  readonly killOrphans: boolean;
  readonly reloads: boolean;
  /** How refusals are told while the program runs; absent: not at all. */
  readonly log?: LogForm;
  /** A rule that would change what happens, and never did, makes the run fail. */
  readonly requireHit: boolean;
  readonly quiet: boolean;
  readonly json: boolean;
}

export function reportProblem(text: string): void {
  say(`hermes: ${text}\n`);
}

/** Said before a program starts with all rights of its user that the administrator has not installed. */
export function warnOfUnknownProgram({ options, quiet, json }: ControlledRun): void {
  if (quiet || json || options.policies.length > 0 || options.fence.level === "strict") return;
  const origin = unknownOrigin(options.command, {
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    path: options.env.PATH,
  });
  if (origin !== undefined)
    say(
      `hermes: ${escapeControl(origin)}, and no policy is in force: nothing is held (unknown programs: -p untrusted --fence strict)\n`,
    );
}

/** The first run with a policy looks through all folders for files to hide, which takes seconds; later ones remember. */
export function tellOfFirstSearch({ options, quiet, json }: ControlledRun): void {
  const { policies, view, fence } = options;
  if (quiet || json || policies.length === 0 || view === "off" || fence.level === "none" || !isatty(2))
    return;
  if (!existsSync(scanFolder()))
    say("hermes: the first run with a policy looks for files to hide; the next ones remember\n");
}

export function reportRefusal(form: LogForm | undefined, refusal: Refusal): void {
  if (form) say(refusalLine(refusal, form));
}

/** Prints the summary; exits with the program's status, or as failed where a required rule never applied. */
export async function finishRun(
  run: ControlledRun,
  result: SessionResult,
  recorder = new RunRecorder(run),
): Promise<never> {
  const { quiet, json, log, requireHit } = run;
  tellLeftOut(log, result);
  await recorder.record(result.summary);
  const missed = requireHit ? (result.summary.neverApplied ?? []) : [];
  if (!json && !quiet) say(renderSummary(result, sessionWorkspace(run.options).folder));
  if (missed.length > 0)
    say(
      `hermes: ${neverApplied(missed.map(({ policy, rule }) => `${policy}/${rule}`))}, and --require-hit was given (the program: exit ${result.exitCode})\n`,
    );
  if (json) say(`${JSON.stringify(result)}\n`);
  exit(missed.length > 0 ? REQUIREMENT_MISSED : result.exitCode);
}

/** HERMES's own failure: the run did not test what it was to test. */
const REQUIREMENT_MISSED = 125;

export function tellLeftOut(form: LogForm | undefined, { refusalsLeftOut = 0 }: SessionResult): void {
  if (refusalsLeftOut === 0) return;
  const time = Date.now() / 1000;
  if (form === "refused") say(`hermes: ${leftOutText(refusalsLeftOut)}\n`);
  else
    say(`${JSON.stringify({ hermes: "refusals-left-out", version: 1, time, leftOut: refusalsLeftOut })}\n`);
}
