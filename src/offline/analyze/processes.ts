import type { CallRecord, ExecRecord, ExitRecord, ForkRecord } from "../../record/trace/records.js";

/** One process from its fork to its end. A number that the kernel uses again is another process here. */
export interface TracedProcess {
  /** Counts the processes of a trace from 0. */
  readonly id: number;
  readonly pid: number;
  parent: TracedProcess | undefined;
  exe: string;
  argv: readonly string[];
  readonly execs: { readonly time: number; readonly exe: string; readonly argv: readonly string[] }[];
  /** Undefined when the trace does not show it. */
  started: number | undefined;
  ended: number | undefined;
  code: number | undefined;
  signal: string | undefined;
  threads: number;
  calls: number;
  errors: number;
  denied: number;
  /** Seconds in calls that do something, and in calls that wait for something. */
  working: number;
  waiting: number;
  first: number;
  last: number;
}

const MAX_EXECS = 16;

/** Seconds. A short-lived process may have ended before its fork is reported; later, its number means another process. */
const LATE_BIRTH = 1;

/** The trace has shown calls of the process, but not yet its fork. */
function isUnborn({ parent, started, ended }: TracedProcess, time: number): boolean {
  return parent === undefined && started === undefined && (ended === undefined || time - ended < LATE_BIRTH);
}

/** Who made a call: threads, processes and who started them, as far as a trace shows. */
export class ProcessHistory {
  readonly all: TracedProcess[] = [];
  readonly #byThread = new Map<number, TracedProcess>();
  /** Forked; the trace has not said yet whether as a process or as a thread. */
  readonly #undecided = new Set<TracedProcess>();

  forked({ time, tid, child, pid }: ForkRecord): void {
    const maker = this.#byThread.get(tid);
    if (pid !== undefined && pid !== child) {
      this.#addThread(child, this.#byThread.get(pid) ?? this.#create(pid, time));
      return;
    }
    const known = this.#byThread.get(child);
    if (known?.pid === child && isUnborn(known, time)) {
      known.parent = maker;
      known.started = Math.min(time, known.first);
      if (known.exe === "") known.exe = maker?.exe ?? "";
      return;
    }
    const process = this.#create(child, time);
    process.parent = maker;
    process.started = time;
    process.exe = maker?.exe ?? "";
    process.argv = maker?.argv ?? [];
    if (pid === undefined) this.#undecided.add(process);
  }

  execed({ time, pid, exe, argv }: ExecRecord): void {
    const process = this.#byThread.get(pid) ?? this.#create(pid, time);
    this.#undecided.delete(process);
    process.exe = exe;
    process.argv = argv;
    if (process.execs.length < MAX_EXECS) process.execs.push({ time, exe, argv });
    process.last = Math.max(process.last, time);
  }

  exited({ time, tid, code, signal }: ExitRecord): void {
    const process = this.#byThread.get(tid);
    if (!process) return;
    process.last = Math.max(process.last, time);
    if (process.pid !== tid) {
      this.#byThread.delete(tid);
      return;
    }
    process.ended = time;
    process.code = code;
    process.signal = signal;
  }

  /** The process that made a call. */
  of({ pid, tid, time }: Pick<CallRecord, "pid" | "tid" | "time">): TracedProcess {
    const known = this.#byThread.get(tid);
    if (known !== undefined && known.pid === pid && this.#undecided.size === 0) return known;
    return this.#settle(known, pid, tid, time);
  }

  #settle(known: TracedProcess | undefined, pid: number, tid: number, time: number): TracedProcess {
    if (known?.pid === pid) {
      this.#undecided.delete(known);
      return known;
    }
    const owner = this.#byThread.get(pid) ?? this.#create(pid, time);
    if (tid === pid) return owner;
    if (known && this.#undecided.delete(known)) this.#forget(known);
    this.#addThread(tid, owner);
    return owner;
  }

  /** A thread may be heard of by its first call before its fork. */
  #addThread(tid: number, owner: TracedProcess): void {
    if (this.#byThread.get(tid) === owner) return;
    this.#byThread.set(tid, owner);
    owner.threads++;
  }

  /** What was taken for a process was a thread. */
  #forget(process: TracedProcess): void {
    const at = this.all.lastIndexOf(process);
    if (at >= 0) this.all.splice(at, 1);
  }

  #create(pid: number, time: number): TracedProcess {
    const process: TracedProcess = {
      id: (this.all.at(-1)?.id ?? -1) + 1,
      pid,
      parent: undefined,
      exe: "",
      argv: [],
      execs: [],
      started: undefined,
      ended: undefined,
      code: undefined,
      signal: undefined,
      threads: 1,
      calls: 0,
      errors: 0,
      denied: 0,
      working: 0,
      waiting: 0,
      first: time,
      last: time,
    };
    this.all.push(process);
    this.#byThread.set(pid, process);
    return process;
  }
}

/** The process and those it comes from. */
export function* lineage(process: TracedProcess | undefined): Generator<TracedProcess> {
  const seen = new Set<TracedProcess>();
  for (let p = process; p !== undefined && !seen.has(p); p = p.parent) {
    seen.add(p);
    yield p;
  }
}

export function processName({ exe, argv, pid }: Pick<TracedProcess, "exe" | "argv" | "pid">): string {
  const file = exe || argv[0] || "";
  return file === "" ? `process ${pid}` : file.slice(file.lastIndexOf("/") + 1);
}
