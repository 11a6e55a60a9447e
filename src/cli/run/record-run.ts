import { sessionWorkspace } from "../../session/session-workspace.js";
import type { DecidedCallCount, SummaryReport } from "../../session/summary.js";
import { say } from "../views/output.js";
import type { ControlledRun } from "./controlled-run.js";

/** Writes what a run was refused where `hermes log` finds it. What it needs is loaded only for a run with refusals. */
export async function recordRun(
  run: ControlledRun,
  { deeds = [], byAction = {} }: Partial<SummaryReport>,
): Promise<void> {
  const refused = refusals(deeds, run);
  if (refused.length === 0) return;
  const listed = refused.reduce((sum, { count }) => sum + count, 0);
  const counted = (byAction.deny ?? 0) + (byAction.kill ?? 0) + (run.ask ? 0 : (byAction.ask ?? 0));
  try {
    const { writeRunRecord } = await import("./write-run-record.js");
    writeRunRecord({
      hermes: "run",
      version: 1,
      time: Date.now(),
      started: run.started,
      pid: process.pid,
      agent: run.agent,
      command: run.options.command,
      workspace: sessionWorkspace(run.options).folder,
      refused,
      unlisted: Math.max(0, counted - listed),
    });
  } catch (error) {
    if (!run.quiet) say(`hermes: the refusals of this run are not in the log: ${(error as Error).message}\n`);
  }
}

/** A question that nobody could be asked is a refusal. */
function refusals(deeds: readonly DecidedCallCount[], { ask }: Pick<ControlledRun, "ask">) {
  return deeds.flatMap(({ version: _, ...deed }) =>
    deed.action === "deny" || deed.action === "kill" || (deed.action === "ask" && !ask) ? [deed] : [],
  );
}

/** Of a run whose program was not started. */
export async function recordFailedRun(run: ControlledRun, error: unknown): Promise<void> {
  const { deeds } = error as { deeds?: readonly DecidedCallCount[] };
  if (deeds) await recordRun(run, { deeds });
}
