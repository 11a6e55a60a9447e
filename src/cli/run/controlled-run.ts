import type { SessionOptions, SessionResult } from "../../session/options.js";
import { exit, say } from "../views/output.js";
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
  readonly quiet: boolean;
  readonly json: boolean;
}

export function reportProblem(text: string): void {
  say(`hermes: ${text}\n`);
}

/** Prints the summary; exits with the program's status. */
export function finishRun({ quiet, json }: ControlledRun, result: SessionResult): never {
  if (json) say(`${JSON.stringify(result)}\n`);
  else if (!quiet) say(renderSummary(result));
  exit(result.exitCode);
}
