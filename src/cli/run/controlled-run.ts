import type { SessionOptions, SessionResult } from "../../session/options.js";
import type { Refusal } from "../../session/refusal-log.js";
import { exit, say } from "../views/output.js";
import { type LogForm, leftOutText, refusalLine } from "../views/refusal.js";
import { renderSummary } from "../views/summary.js";
import type { AskPlan } from "./asker.js";

/** A run of the command line, as its control thread knows it. Plain data: it crosses to another thread. */
export interface ControlledRun {
  readonly options: SessionOptions;
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
  readonly quiet: boolean;
  readonly json: boolean;
}

export function reportProblem(text: string): void {
  say(`hermes: ${text}\n`);
}

export function reportRefusal(form: LogForm | undefined, refusal: Refusal): void {
  if (form) say(refusalLine(refusal, form));
}

/** Prints the summary; exits with the program's status. */
export function finishRun({ quiet, json, log }: ControlledRun, result: SessionResult): never {
  tellLeftOut(log, result);
  if (json) say(`${JSON.stringify(result)}\n`);
  else if (!quiet) say(renderSummary(result));
  exit(result.exitCode);
}

export function tellLeftOut(form: LogForm | undefined, { refusalsLeftOut = 0 }: SessionResult): void {
  if (refusalsLeftOut === 0) return;
  const time = Date.now() / 1000;
  if (form === "refused") say(`hermes: ${leftOutText(refusalsLeftOut)}\n`);
  else
    say(`${JSON.stringify({ hermes: "refusals-left-out", version: 1, time, leftOut: refusalsLeftOut })}\n`);
}
