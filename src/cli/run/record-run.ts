import { sessionWorkspace } from "../../session/session-workspace.js";
import type { DecidedCallCount, SummaryReport } from "../../session/summary.js";
import { say } from "../views/output.js";
import type { ControlledRun } from "./controlled-run.js";

/**
 * Writes what a run was refused where `hermes log` finds it: at its end, and each minute of a long one. What that needs is
 * loaded only for a run with refusals.
 */
export class RunRecorder {
  readonly #run: ControlledRun;
  /** How often each refusal is recorded already. */
  readonly #recorded = new Map<string, number>();
  #unlisted = 0;

  constructor(run: ControlledRun) {
    this.#run = run;
  }

  async record({ deeds = [], byAction = {} }: Partial<SummaryReport>): Promise<void> {
    const { options, agent, started, ask, quiet } = this.#run;
    const all = refusals(deeds, this.#run);
    const refused = all.flatMap((deed) => this.#fresh(deed));
    const counted = (byAction.deny ?? 0) + (byAction.kill ?? 0) + (ask ? 0 : (byAction.ask ?? 0));
    const unlisted = Math.max(0, counted - all.reduce((sum, { count }) => sum + count, 0)) - this.#unlisted;
    if (refused.length === 0 && unlisted <= 0) return;
    this.#unlisted += unlisted;
    try {
      const { writeRunRecord } = await import("./write-run-record.js");
      writeRunRecord({
        hermes: "run",
        version: 1,
        time: Date.now(),
        started,
        pid: process.pid,
        agent,
        command: options.command,
        workspace: sessionWorkspace(options).folder,
        refused,
        unlisted,
      });
    } catch (error) {
      if (!quiet) say(`hermes: the refusals of this run are not in the log: ${(error as Error).message}\n`);
    }
  }

  /** What has happened since the last record. */
  #fresh<D extends { readonly count: number }>(deed: D): D[] {
    const { count, ...rest } = deed;
    const key = JSON.stringify(rest);
    const known = this.#recorded.get(key) ?? 0;
    this.#recorded.set(key, count);
    return count > known ? [{ ...deed, count: count - known }] : [];
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
  if (deeds) await new RunRecorder(run).record({ deeds });
}
