import type { DoorPlan } from "../kernel/doors/door-plan.js";
import type { Module } from "../kernel/process/modules.js";
import type { ProcessTable } from "../kernel/process/process-table.js";
import { HermesError } from "../nouns/errors.js";
import { parseFunctionPattern } from "../policy/function-pattern.js";
import type { Recorder } from "../record/trace/recorder.js";
import { Collector } from "./coverage/collector.js";
import type { CoverageReport } from "./coverage/report.js";
import type { Instrument } from "./instrument/instrument.js";
import type { SessionOptions } from "./options.js";
import { Ring, type RingReport } from "./ring/ring.js";
import { functionsToPatch, RingEvents, ringFunctionWatcher, ringTools } from "./ring-events.js";
import type { Summary } from "./summary.js";

interface ObserversHost {
  readonly doorPlan: DoorPlan;
  readonly processes: ProcessTable;
  readonly summary: Summary;
  readonly recorder: Recorder | undefined;
  problem(text: string): void;
}

/** Observers that never decide: the fast tier and coverage. */
export class Observers {
  readonly #ring: Ring | undefined;
  readonly #collector: Collector | undefined;
  readonly #host: ObserversHost;

  constructor(options: SessionOptions, inside: Instrument | undefined, host: ObserversHost) {
    this.#host = host;
    const { coverage, fast } = options;
    if (!inside) return;
    const collector = coverage && new Collector(coverage, inside.sites, host.problem);
    this.#collector = collector;
    if (collector)
      inside.watchers.push({ mapped: (tid, space, module) => collector.mapped(tid, space, module) });
    if (!fast && !coverage?.fast) return;
    if (host.doorPlan.trapsCounter)
      throw new HermesError("UNAVAILABLE", {
        what: "the fast tier",
        why: "its records need the time stamp counter, which a policy decides on (rdtsc)",
      });
    this.#ring = new Ring({
      hands: ringTools(inside.sites),
      calls: host.doorPlan.gated,
      whenFull: options.trace?.overflow ?? "wait",
      functionsOf: coverage?.fast ? (module) => collector!.functionsOf(module) : tracedFunctions(options),
      recordsFunctions: !coverage?.fast,
      sink: new RingEvents(host.processes, host.summary, host.recorder),
      pidOf: (tid) => host.processes.get(tid).pid,
      problem: host.problem,
    });
    inside.watchers.push(ringFunctionWatcher(this.#ring, inside.sites));
  }

  get births(): boolean {
    return this.#ring !== undefined;
  }

  /** Reads new records of all threads. */
  drain(): void {
    this.#ring?.drain();
  }

  /** Calls without room for a record. */
  lost = 0;

  report(): { fast?: RingReport; coverage?: CoverageReport } {
    const fast = this.#ring?.report();
    if (fast && fast.lost > 0) this.#tellLoss(fast.lost);
    if (this.#ring) this.#collector?.counted(this.#ring.counted());
    return {
      ...(fast && { fast }),
      ...(this.#collector && { coverage: this.#collector.report() }),
    };
  }

  #tellLoss(count: number): void {
    this.lost = count;
    this.#host.recorder?.note({ kind: "dropped", time: Date.now() / 1000, count });
    this.#host.problem(
      `${count} ${count === 1 ? "call was" : "calls were"} lost: the program made calls faster than HERMES could read them; they are missing from the trace`,
    );
  }
}

/** The functions for the trace: `libc!get*`, without `!libc!getenv`. */
function tracedFunctions({ trace }: SessionOptions) {
  const named = (trace?.functions ?? []).map((text) => parseFunctionPattern(text.replace(/^!/, "")));
  const isLeft = (i: number) => trace!.functions![i]!.startsWith("!");
  const patterns = named.filter((_, i) => !isLeft(i));
  const except = named.filter((_, i) => isLeft(i));
  return (module: Module) => functionsToPatch(module, patterns, except);
}
