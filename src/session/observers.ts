import { Collector } from "../coverage/collector.js";
import type { CoverageReport } from "../coverage/report.js";
import type { Arrangement } from "../doors/arrangement.js";
import { HermesError } from "../errors.js";
import type { Instrument } from "../instrument/instrument.js";
import { parseFunctionPattern } from "../policy/function-pattern.js";
import type { Module } from "../process/modules.js";
import type { ProcessTable } from "../process/table.js";
import { Ring, type RingReport } from "../ring/ring.js";
import type { Summary } from "../summary.js";
import type { Recorder } from "../trace/recorder.js";
import { handsOf, RingEvents, ringWatcher, wantedFunctions } from "./fast.js";
import type { SessionOptions } from "./options.js";

export interface ObserversHost {
  readonly arrangement: Arrangement;
  readonly processes: ProcessTable;
  readonly summary: Summary;
  readonly recorder: Recorder | undefined;
  problem(text: string): void;
}

/** Those who look into the program and decide nothing: the fast tier and coverage. */
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
    if (host.arrangement.trapsCounter)
      throw new HermesError("UNAVAILABLE", {
        what: "the fast tier",
        why: "its records need the counter that a policy decides on (rdtsc)",
      });
    this.#ring = new Ring({
      hands: handsOf(inside.sites),
      calls: host.arrangement.gated,
      whenFull: options.trace?.overflow ?? "wait",
      functionsOf: coverage?.fast ? (module) => collector!.functionsOf(module) : tracedFunctions(options),
      recordsFunctions: !coverage?.fast,
      sink: new RingEvents(host.processes, host.summary, host.recorder),
      pidOf: (tid) => host.processes.get(tid).pid,
      problem: host.problem,
    });
    inside.watchers.push(ringWatcher(this.#ring, inside.sites));
  }

  get births(): boolean {
    return this.#ring !== undefined;
  }

  /** Reads what threads have written meanwhile. */
  drain(): void {
    this.#ring?.drain();
  }

  /** Calls that found no room for a record. */
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
    this.#host.problem(`${count} calls came faster than they could be read, and are not in the trace`);
  }
}

/** Those that the trace is to have: `libc!get*`, without `!libc!getenv`. */
function tracedFunctions({ trace }: SessionOptions) {
  const named = (trace?.functions ?? []).map((text) => parseFunctionPattern(text.replace(/^!/, "")));
  const isLeft = (i: number) => trace!.functions![i]!.startsWith("!");
  const patterns = named.filter((_, i) => !isLeft(i));
  const except = named.filter((_, i) => isLeft(i));
  return (module: Module) => wantedFunctions(module, patterns, except);
}
