import type { CallRecord } from "../../../record/trace/records.js";
import { subject } from "../decisions.js";
import type { NetworkStatistics } from "../network.js";
import { processName, type TracedProcess } from "../processes.js";
import type { RecordedEffect } from "../recorded-effects.js";
import type { UsedSecrets } from "../secrets.js";

/** How much it should worry the reader: what programs with bad intent do, what may be, what is worth knowing. */
type Severity = "alert" | "warning" | "notice";

/** One line of proof: a call of the trace. */
export interface CallEvidence {
  readonly time: number;
  readonly pid: number;
  readonly program: string;
  readonly text: string;
}

export interface PatternFinding {
  readonly pattern: string;
  readonly severity: Severity;
  /** What happened, in one sentence. */
  readonly title: string;
  readonly evidence: readonly CallEvidence[];
}

/** One thing that a call did, and who made it. */
export interface EffectStep {
  readonly effect: RecordedEffect;
  readonly record: CallRecord;
  readonly process: TracedProcess;
  /** It was refused, or it went wrong. */
  readonly failed: boolean;
}

export interface Known {
  readonly secrets: UsedSecrets;
  readonly network: NetworkStatistics;
}

/** Looks for one kind of behaviour while a trace goes by, in bounded memory. */
export interface BehaviourPattern {
  step?(step: EffectStep): void;
  /** Every call, also those that have no effect of their own. */
  call?(record: CallRecord, process: TracedProcess): void;
  findings(): readonly PatternFinding[];
}

export type BehaviourPatternMaker = new (known: Known) => BehaviourPattern;

/** How many findings of one pattern are kept. */
export const MAX_FINDINGS = 20;

export function evidence(record: CallRecord, process: TracedProcess): CallEvidence {
  const what = subject(record);
  const outcome = record.errno === undefined ? "" : ` = ${record.errno}`;
  return {
    time: record.time,
    pid: record.pid,
    program: processName(process),
    text: `${record.name}${what === "" ? "" : ` ${what}`}${outcome}`,
  };
}

/** A map that forgets its oldest entries. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: K, value: V): this {
    super.set(key, value);
    if (this.size > this.#limit) this.delete(this.keys().next().value!);
    return this;
  }
}
