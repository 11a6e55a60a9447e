import type { CallRecord, FunctionRecord, HeaderRecord, TraceRecord } from "../../record/trace/records.js";
import { CallStatistics, readsPipe } from "./calls.js";
import { Decisions } from "./decisions.js";
import { FileStatistics } from "./files.js";
import { FunctionStatistics } from "./functions.js";
import { NetworkStatistics } from "./network.js";
import { PATTERNS } from "./patterns/index.js";
import type { BehaviourPattern, EffectStep, PatternFinding } from "./patterns/pattern.js";
import { ProcessHistory, processName, type TracedProcess } from "./processes.js";
import { Programs } from "./programs.js";
import { RecordedEffects } from "./recorded-effects.js";
import type { UsedSecrets } from "./secrets.js";
import { ThreadTime } from "./thread-time.js";

interface SecretUse {
  readonly path: string;
  readonly kind: string;
  readonly reason: string;
  count: number;
  /** How many of them were refused, or failed. */
  failed: number;
  first: number;
  readonly by: Set<string>;
}

const MAX_SECRETS = 5_000;

/** Facts about a trace, collected in one pass. Memory does not grow with the number of records. */
export class Facts {
  header: HeaderRecord | undefined;
  exitCode: number | undefined;
  events = 0;
  dropped = 0;
  first = Number.POSITIVE_INFINITY;
  last = Number.NEGATIVE_INFINITY;
  readonly processes = new ProcessHistory();
  readonly threadTime = new ThreadTime();
  readonly calls = new CallStatistics();
  readonly functions = new FunctionStatistics();
  readonly files = new FileStatistics();
  readonly network = new NetworkStatistics();
  readonly programs = new Programs();
  readonly decisions = new Decisions();
  readonly secrets = new Map<string, SecretUse>();
  readonly #known: UsedSecrets;
  readonly #effects = new RecordedEffects();
  readonly #patterns: readonly BehaviourPattern[];
  /** Of those, the ones that want to see every call. */
  readonly #onCalls: readonly BehaviourPattern[];

  constructor(secrets: UsedSecrets) {
    this.#known = secrets;
    this.#patterns = PATTERNS.map((Maker) => new Maker({ secrets, network: this.network }));
    this.#onCalls = this.#patterns.filter((pattern) => pattern.call !== undefined);
  }

  /** The process of a call, for callers that need more than these counts. */
  take(record: TraceRecord): TracedProcess | undefined {
    if (record.kind === "header") {
      this.header ??= record;
      return undefined;
    }
    if (record.time < this.first) this.first = record.time;
    if (record.time > this.last) this.last = record.time;
    switch (record.kind) {
      case "syscall":
        return this.#call(record);
      case "function":
        return this.#function(record);
      case "fork":
        this.processes.forked(record);
        this.threadTime.saw(record.child, record.time, record.time);
        break;
      case "exec": {
        const before = this.processes.of(record);
        this.programs.execed(
          record,
          before.parent === undefined && before.exe === "" ? "" : processName(before),
        );
        this.processes.execed(record);
        break;
      }
      case "exit":
        this.processes.exited(record);
        this.threadTime.ended(record.tid, record.time);
        this.functions.exited(record.tid);
        break;
      case "dropped":
        this.dropped += record.count;
        break;
      case "end":
        this.exitCode = record.exitCode;
    }
    return undefined;
  }

  findings() {
    const order = { alert: 0, warning: 2, notice: 4 };
    // An attempt is no coincidence: of findings that count the same, it comes first.
    const rank = ({ severity, pattern }: PatternFinding) =>
      order[severity] + (pattern === "refused-attempt" ? 0 : 1);
    return this.#patterns
      .flatMap((pattern) => pattern.findings())
      .sort((a, b) => rank(a) - rank(b) || a.evidence[0]!.time - b.evidence[0]!.time);
  }

  #call(record: CallRecord): TracedProcess {
    this.events++;
    const process = this.processes.of(record);
    this.#count(record, process);
    if (record.action !== "allow" || record.rule !== undefined) this.decisions.take(record);
    this.network.take(record, process);
    this.files.data(record);
    for (const pattern of this.#onCalls) pattern.call!(record, process);
    for (const effect of this.#effects.of(record)) {
      const failed = record.errno !== undefined || record.action === "deny" || record.action === "kill";
      this.#step({ effect, record, process, failed });
    }
    return process;
  }

  #function(record: FunctionRecord): TracedProcess {
    const { time, elapsed = 0 } = record;
    const process = this.processes.of(record);
    this.functions.take(record);
    this.threadTime.saw(record.tid, time, time + elapsed);
    if (record.action !== "allow" || record.rule !== undefined) this.decisions.take(record);
    if (time < process.first) process.first = time;
    if (time + elapsed > process.last) process.last = time + elapsed;
    if (time + elapsed > this.last) this.last = time + elapsed;
    return process;
  }

  #count(record: CallRecord, process: TracedProcess): void {
    const { elapsed = 0, errno, action, time } = record;
    const { waits } = this.calls.take(record);
    process.calls++;
    this.threadTime.saw(record.tid, time, time + elapsed);
    if (errno !== undefined) process.errors++;
    if (action === "deny" || action === "kill") process.denied++;
    if (waits || readsPipe(record)) process.waiting += elapsed;
    else process.working += elapsed;
    if (time < process.first) process.first = time;
    if (time + elapsed > process.last) process.last = time + elapsed;
    if (time + elapsed > this.last) this.last = time + elapsed;
  }

  #step(step: EffectStep): void {
    this.files.note(step.effect, step.record, step.process);
    const { path, does } = step.effect;
    if (path !== undefined && (does.includes("read") || does.includes("write"))) this.#secret(path, step);
    for (const pattern of this.#patterns) pattern.step?.(step);
  }

  #secret(path: string, { record, process, failed }: EffectStep): void {
    const secret = this.#known.of(path);
    if (!secret) return;
    let use = this.secrets.get(path);
    if (!use) {
      if (this.secrets.size >= MAX_SECRETS) return;
      use = { path, ...secret, count: 0, failed: 0, first: record.time, by: new Set() };
      this.secrets.set(path, use);
    }
    use.count++;
    if (failed) use.failed++;
    if (use.by.size < 8) use.by.add(processName(process));
  }
}
