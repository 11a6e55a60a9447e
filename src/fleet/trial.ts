import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readEvents } from "../offline/simulate/read.js";
import { Simulator } from "../offline/simulate/simulate.js";
import { loadPolicy } from "../policy/load.js";
import type { AppliedPolicy } from "./applied-policy.js";

/** The decisions of a policy that differ from the active one, on one host's traces. */
export interface PolicyTrial {
  readonly serial: number;
  readonly traces: number;
  readonly events: number;
  /** How many decisions differ, and the most frequent of them. */
  readonly changes: number;
  readonly examples: readonly {
    readonly event: string;
    readonly before: string;
    readonly now: string;
    readonly count: number;
  }[];
  readonly problem?: string;
}

const TRACES = 5;
const EVENTS = 500_000;
const EXAMPLES = 20;

export async function tryPolicyOnTraces(
  text: string,
  { file }: Pick<AppliedPolicy, "file">,
  traces: readonly string[],
): Promise<Omit<PolicyTrial, "serial">> {
  const draft = join(dirname(file), `.trial-${randomBytes(6).toString("hex")}.yaml`);
  let read = 0;
  let problem: string | undefined;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
    const simulator = new Simulator([await loadPolicy(draft)], [await loadPolicy(file)]);
    for (const trace of traces.slice(0, TRACES)) {
      let left = EVENTS;
      try {
        await readEvents(trace, (occurrence) => {
          if (left-- > 0) simulator.take(occurrence);
        });
        read++;
      } catch (error) {
        problem = (error as Error).message;
      }
    }
    const { events, outcomes } = simulator.result();
    const changes = outcomes.reduce((sum, { count }) => sum + count, 0);
    const examples = [...outcomes]
      .sort((a, b) => b.count - a.count)
      .slice(0, EXAMPLES)
      .map(({ event, before, decision, count }) => ({
        event: event.slice(0, 300),
        before: before?.action ?? "allow",
        now: decision.action,
        count,
      }));
    return { traces: read, events, changes, examples, ...(problem !== undefined && { problem }) };
  } catch (error) {
    return { traces: read, events: 0, changes: 0, examples: [], problem: (error as Error).message };
  } finally {
    rmSync(draft, { force: true });
  }
}
