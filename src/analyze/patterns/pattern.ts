import type { CallRecord } from "../../trace/records.js";
import type { Act } from "../acts.js";
import { subject } from "../decisions.js";
import type { Network } from "../network.js";
import { type Process, programName } from "../processes.js";
import type { Secrets } from "../secrets.js";

/** How much it should worry the reader: what programs with bad intent do, what may be, what is worth knowing. */
export type Severity = "alert" | "warning" | "notice";

/** One line of proof: a call of the trace. */
export interface Evidence {
  readonly time: number;
  readonly pid: number;
  readonly program: string;
  readonly text: string;
}

export interface Finding {
  readonly pattern: string;
  readonly severity: Severity;
  /** What happened, in one sentence. */
  readonly title: string;
  readonly evidence: readonly Evidence[];
}

/** One thing that a call did, and who made it. */
export interface Step {
  readonly act: Act;
  readonly record: CallRecord;
  readonly process: Process;
  /** It was refused, or it went wrong. */
  readonly failed: boolean;
}

export interface Known {
  readonly secrets: Secrets;
  readonly network: Network;
}

/** Looks for one kind of behaviour while a trace goes by, in bounded memory. */
export interface Pattern {
  step?(step: Step): void;
  /** Every call, also those that have no effect of their own. */
  call?(record: CallRecord, process: Process): void;
  findings(): readonly Finding[];
}

export type PatternMaker = new (known: Known) => Pattern;

/** How many findings of one pattern are kept. */
export const MAX_FINDINGS = 20;

export function evidence(record: CallRecord, process: Process): Evidence {
  const what = subject(record);
  const outcome = record.errno === undefined ? "" : ` = ${record.errno}`;
  return {
    time: record.time,
    pid: record.pid,
    program: programName(process),
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
