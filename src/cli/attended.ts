import type { SessionOptions, SessionResult } from "../session/options.js";
import { exit, say } from "./output.js";
import { renderSummary } from "./summary.js";

/** A run of the command line, as whoever attends to it knows it. It can be sent to another thread. */
export interface Attended {
  readonly options: SessionOptions;
  /** Where signals are heard of: what takeSignals() gave. */
  readonly signals: number;
  /** Milliseconds since 1970. */
  readonly started: number;
  readonly killOrphans: boolean;
  readonly reloads: boolean;
  readonly quiet: boolean;
  readonly json: boolean;
}

export function tellProblem(text: string): void {
  say(`hermes: ${text}\n`);
}

/** How it went is told, and how the program ended is how we end. */
export function finish({ quiet, json }: Attended, result: SessionResult): never {
  if (json) say(`${JSON.stringify(result)}\n`);
  else if (!quiet) say(renderSummary(result));
  exit(result.exitCode);
}
