import type { CallRecord } from "../../record/trace/records.js";
import { callerText } from "../../record/trace/stack.js";

/** Calls that mostly block: their time says nothing about the kernel's work. */
const WAITING = new Set(
  (
    "wait4 waitid futex futex_wait futex_waitv poll ppoll select pselect6 epoll_wait epoll_pwait epoll_pwait2 " +
    "nanosleep clock_nanosleep pause rt_sigsuspend rt_sigtimedwait accept accept4 recvfrom recvmsg recvmmsg " +
    "msgrcv mq_timedreceive semop semtimedop flock io_getevents restart_syscall vfork"
  ).split(" "),
);
export const waits = (name: string) => WAITING.has(name);

/** Latencies fall into buckets whose bounds double, from 1 µs on. */
export const BUCKETS = 24;

export interface CallFacts {
  readonly name: string;
  readonly waits: boolean;
  count: number;
  errors: number;
  seconds: number;
  longest: number;
  /** How many took up to 1 µs, 2 µs, 4 µs … */
  readonly latency: Uint32Array;
}

interface SlowCall {
  readonly record: CallRecord;
  readonly seconds: number;
}

export interface ErrorFacts {
  readonly call: string;
  readonly errno: string;
  count: number;
  readonly examples: string[];
}

/** Who made a call, where stacks were recorded: the innermost function outside the C library. */
export interface CallerFacts {
  readonly call: string;
  readonly caller: string;
  count: number;
}

const SLOWEST = 20;
const MAX_CALLERS = 10_000;
const EXAMPLES = 3;
const MAX_ERRORS = 5_000;

/** How often each call was made, how long it took, and how it failed. */
export class CallStatistics {
  readonly byName = new Map<string, CallFacts>();
  readonly errors = new Map<string, ErrorFacts>();
  readonly callers = new Map<string, CallerFacts>();
  slowest: SlowCall[] = [];
  #threshold = 0;

  take(record: CallRecord): CallFacts {
    const facts = this.#factsOf(record.name);
    facts.count++;
    const { elapsed, errno } = record;
    if (elapsed !== undefined) this.#time(facts, record, elapsed);
    if (errno !== undefined) {
      facts.errors++;
      this.#failed(record, errno);
    }
    const caller = record.stack && callerText(record.stack);
    if (caller !== undefined) this.#calledBy(record.name, caller);
    return facts;
  }

  /** A function is one, wherever in it the call is made. */
  #calledBy(call: string, place: string): void {
    const caller = place.replace(/(?<=!.*)\+0x[0-9a-f]+$/, "");
    const key = `${call} ${caller}`;
    const facts = this.callers.get(key);
    if (facts) facts.count++;
    else if (this.callers.size < MAX_CALLERS) this.callers.set(key, { call, caller, count: 1 });
  }

  #factsOf(name: string): CallFacts {
    const known = this.byName.get(name);
    if (known) return known;
    const facts: CallFacts = {
      name,
      waits: waits(name),
      count: 0,
      errors: 0,
      seconds: 0,
      longest: 0,
      latency: new Uint32Array(BUCKETS),
    };
    this.byName.set(name, facts);
    return facts;
  }

  #time(facts: CallFacts, record: CallRecord, elapsed: number): void {
    facts.seconds += elapsed;
    if (elapsed > facts.longest) facts.longest = elapsed;
    const bucket = elapsed <= 1e-6 ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log2(elapsed * 1e6)));
    facts.latency[bucket]!++;
    if (facts.waits || elapsed <= this.#threshold || readsPipe(record)) return;
    this.slowest.push({ record, seconds: elapsed });
    if (this.slowest.length < SLOWEST * 4) return;
    this.slowest = slowestOf(this.slowest);
    this.#threshold = this.slowest.at(-1)!.seconds;
  }

  #failed(record: CallRecord, errno: string): void {
    const key = `${record.name} ${errno}`;
    let facts = this.errors.get(key);
    if (!facts) {
      if (this.errors.size >= MAX_ERRORS) return;
      facts = { call: record.name, errno, count: 0, examples: [] };
      this.errors.set(key, facts);
    }
    facts.count++;
    const example = record.path ?? record.target;
    if (example !== undefined && facts.examples.length < EXAMPLES && !facts.examples.includes(example))
      facts.examples.push(example);
  }
}

export function slowestOf(calls: readonly SlowCall[]): SlowCall[] {
  return [...calls].sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
}

/** Whether the call waits for a peer rather than for the kernel. */
export function readsPipe({ name, target }: CallRecord): boolean {
  return (name === "read" || name === "readv") && target !== undefined && !target.startsWith("/");
}
