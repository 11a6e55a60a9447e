import type { FunctionRecord } from "../../record/trace/records.js";

interface FunctionFacts {
  /** `libc!getenv`. */
  readonly name: string;
  count: number;
  /** How many returned what means a failure; how many never returned. */
  failed: number;
  left: number;
  /** Seconds from call to return, all together; and those that were not spent in other recorded functions. */
  seconds: number;
  own: number;
  longest: number;
  readonly callers: Map<string, number>;
}

const MAX_CALLERS = 200;
const MAX_DEPTH = 1000;

/** How often each function was called, by whom, and how long it took. */
export class FunctionStatistics {
  readonly byName = new Map<string, FunctionFacts>();
  count = 0;
  /** By thread: the seconds that recorded functions took which were called at each depth since its caller began. */
  readonly #within = new Map<number, number[]>();

  take(record: FunctionRecord): void {
    this.count++;
    const facts = this.#factsOf(record.name);
    facts.count++;
    if (record.failed || record.errno !== undefined) facts.failed++;
    if (record.left !== undefined) facts.left++;
    if (record.caller !== undefined && (facts.callers.size < MAX_CALLERS || facts.callers.has(record.caller)))
      facts.callers.set(record.caller, (facts.callers.get(record.caller) ?? 0) + 1);
    const { elapsed = 0 } = record;
    facts.seconds += elapsed;
    facts.own += Math.max(0, elapsed - this.#nested(record, elapsed));
    if (elapsed > facts.longest) facts.longest = elapsed;
  }

  /** A thread that ends leaves nothing behind: its number may be used again. */
  exited(tid: number): void {
    this.#within.delete(tid);
  }

  /** What the functions took that it called: they were recorded just before it. */
  #nested({ tid, depth = 0 }: FunctionRecord, elapsed: number): number {
    if (!(depth >= 0 && depth < MAX_DEPTH)) return 0;
    let within = this.#within.get(tid);
    if (!within) {
      within = [];
      this.#within.set(tid, within);
    }
    const nested = within[depth + 1] ?? 0;
    within.length = Math.min(within.length, depth + 1);
    within[depth] = (within[depth] ?? 0) + elapsed;
    return nested;
  }

  #factsOf(name: string): FunctionFacts {
    let facts = this.byName.get(name);
    if (!facts) {
      facts = { name, count: 0, failed: 0, left: 0, seconds: 0, own: 0, longest: 0, callers: new Map() };
      this.byName.set(name, facts);
    }
    return facts;
  }

  list() {
    return [...this.byName.values()]
      .sort((a, b) => b.own - a.own || b.count - a.count)
      .map(({ callers, ...facts }) => ({
        ...facts,
        callers: [...callers]
          .sort(([, a], [, b]) => b - a)
          .slice(0, 10)
          .map(([caller, count]) => ({ caller, count })),
      }));
  }
}
