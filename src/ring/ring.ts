import { native } from "../kernel/native.js";
import type { Module } from "../process/modules.js";
import { CycleClock } from "./clock.js";
import { GATE, type Hands, Image, Places, placeOf } from "./image.js";
import { type OpenCall, OpenCalls } from "./open-calls.js";
import { Patcher, type RingFunction, type WantedFunction } from "./patcher.js";
import type { LaneReader, Listener } from "./reader.js";
import type { WhenFull } from "./stub.js";

/** What the ring tells. Words are the arguments, low half first. */
export interface RingSink {
  /** A system call that was made; without a result when it never returned. */
  call(tid: number, pid: number, call: RingCall): void;
  /** A function that was called. */
  entered(tid: number, pid: number, time: number, called: RingFunction, values: Uint32Array): void;
}

export interface RingCall {
  /** Seconds since 1970. */
  readonly time: number;
  readonly nr: number;
  readonly values: Uint32Array;
  readonly result?: bigint;
  /** Seconds. */
  readonly elapsed?: number;
}

export interface RingOptions {
  readonly hands: Hands;
  /** Numbers of the system calls that are recorded where they are made. */
  readonly calls: ReadonlySet<number>;
  readonly whenFull: WhenFull;
  /** The functions of a module that are observed. */
  readonly functionsOf: (module: Module) => readonly WantedFunction[];
  /** Whether each call of a function is recorded, and not only counted. */
  readonly recordsFunctions: boolean;
  readonly sink: RingSink;
  readonly pidOf: (tid: number) => number;
  /** Something is not as it should be, and a person should hear of it. */
  readonly problem: (text: string) => void;
}

interface Thread {
  readonly image: Image;
  readonly lane: LaneReader;
  readonly pid: number;
  readonly open: OpenCalls;
}

/** What the fast tier did, for the summary. */
export interface RingReport {
  /** Calls and functions that were recorded where they happened. */
  readonly records: number;
  readonly lost: number;
  /** How many places have a stub. */
  readonly patched: number;
  /** Functions that could not be given one, and why. */
  readonly left: Readonly<Record<string, string>>;
  /** How often each function was called; exact, also where records were lost. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * The observe-only tier: code of ours in the program writes a record of each call into memory that we read. Whatever runs
 * there could also not write it, so it serves to observe and never to decide.
 */
export class Ring implements Listener {
  readonly #o: RingOptions;
  readonly #clock = new CycleClock();
  readonly #places = new Places();
  readonly #images = new Map<number, Image>();
  readonly #threads = new Map<number, Thread>();
  readonly patcher: Patcher;
  readonly #table: Uint8Array;
  #reading: Thread | undefined;
  #readingTid = 0;
  #records = 0;
  #lost = 0;
  readonly #counts: number[] = [];

  constructor(options: RingOptions) {
    this.#o = options;
    this.#table = new Uint8Array(GATE.code - GATE.table);
    for (const nr of options.calls) if (nr < 512) this.#table[nr] = 1;
    this.patcher = new Patcher(options.hands, options.whenFull);
    native().watchBirths(1);
  }

  // ---------------------------------------------------------------- threads

  /** A new program is in place and has not begun to run. */
  execed(tid: number): void {
    this.exited(tid);
    const place = this.#places.take((taken) => this.#images.has(taken));
    const image =
      place === undefined
        ? "there are too many programs at once"
        : Image.make(this.#o.hands, tid, place, this.#table);
    if (typeof image === "string") {
      this.#o.problem(`process ${tid} is observed through the ordinary doors: ${image}`);
      return;
    }
    this.#images.set(image.place, image);
    this.#adopt(tid, image);
  }

  /** A thread or process that has not begun to run. It has its parent's registers. */
  born(tid: number): void {
    const place = placeOf(native().gsBase(tid));
    const image = place === undefined ? undefined : this.#images.get(place);
    if (image) this.#adopt(tid, image);
  }

  #adopt(tid: number, image: Image): void {
    const lane = image.take();
    native().setGsBase(tid, image.address(lane));
    this.#threads.set(tid, { image, lane, pid: this.#o.pidOf(tid), open: new OpenCalls() });
  }

  /** A thread is gone, or its program is: what it wrote is read to the end. */
  exited(tid: number): void {
    const thread = this.#threads.get(tid);
    if (!thread) return;
    this.#read(tid, thread, true);
    this.#threads.delete(tid);
    for (const call of thread.open.end()) this.#tell(tid, thread, call);
    thread.image.release(thread.lane);
    if (thread.image.threads > 0) return;
    this.#images.delete(thread.image.place);
    this.#addUp(thread.image);
  }

  /** A thread that execs takes the leader's number. */
  moved(from: number, to: number): void {
    this.exited(to);
    const thread = this.#threads.get(from);
    this.#threads.delete(from);
    if (thread) this.#threads.set(to, thread);
  }

  /** Code has been mapped, and has not yet run. */
  mapped(tid: number, module: Module): void {
    const image = this.#threads.get(tid)?.image;
    if (!image) return;
    const { calls, functionsOf, recordsFunctions } = this.#o;
    if (calls.size > 0) this.patcher.patchCalls(tid, image, module);
    this.patcher.patchFunctions(tid, image, module, functionsOf(module), recordsFunctions);
  }

  /** Where a thread goes on that stopped because its lane was full; undefined when it did not stop for that. */
  full(tid: number, address: number): number | undefined {
    const thread = this.#threads.get(tid);
    const retry = thread && this.patcher.retryOf(thread.image, address);
    if (retry === undefined) return undefined;
    // A lane that has no room at all: it goes on behind its stop, where the call is counted as lost.
    return this.#read(tid, thread!, false) > 0 ? retry : address + 1;
  }

  // ---------------------------------------------------------------- records

  /** Reads what has been written. Cheap when that is nothing. */
  drain(): void {
    for (const [tid, thread] of this.#threads) if (thread.lane.waiting) this.#read(tid, thread, false);
  }

  #read(tid: number, thread: Thread, all: boolean): number {
    this.#clock.compare();
    this.#reading = thread;
    this.#readingTid = tid;
    return thread.lane.read(this, all);
  }

  called(_lane: number, cycles: number, nr: number, site: number, values: Uint32Array): void {
    const thread = this.#reading!;
    const never = thread.open.called({ nr, site, cycles, values: values.slice() });
    if (never) this.#tell(this.#readingTid, thread, never);
  }

  returned(_lane: number, cycles: number, site: number, values: Uint32Array): void {
    const thread = this.#reading!;
    const { call, left } = thread.open.returned(site);
    if (call) {
      const result = BigInt.asIntN(64, (BigInt(values[1]!) << 32n) | BigInt(values[0]!));
      this.#tell(this.#readingTid, thread, call, result, cycles);
    }
    for (const each of left) this.#tell(this.#readingTid, thread, each);
  }

  #tell(tid: number, { pid }: Thread, call: OpenCall, result?: bigint, until?: number): void {
    this.#records++;
    const time = this.#clock.time(call.cycles);
    const { nr, values } = call;
    this.#o.sink.call(tid, pid, {
      time,
      nr,
      values,
      ...(result !== undefined && { result }),
      ...(until !== undefined && { elapsed: Math.max(0, this.#clock.seconds(until - call.cycles)) }),
    });
  }

  entered(_lane: number, cycles: number, id: number, values: Uint32Array): void {
    const called = this.patcher.functions[id];
    if (!called) return;
    this.#records++;
    const { pid } = this.#reading!;
    this.#o.sink.entered(this.#readingTid, pid, this.#clock.time(cycles), called, values);
  }

  #addUp({ lanes }: Image): void {
    for (const lane of lanes) {
      this.#lost += lane.lost;
      this.patcher.functions.forEach(({ id }) => {
        this.#counts[id] = (this.#counts[id] ?? 0) + lane.count(id);
      });
    }
  }

  /** Once no thread is left. */
  report(): RingReport {
    for (const tid of [...this.#threads.keys()]) this.exited(tid);
    const { functions, patched, left } = this.patcher;
    const counts: Record<string, number> = Object.create(null);
    for (const { id, name } of functions) counts[name] = (counts[name] ?? 0) + (this.#counts[id] ?? 0);
    return { records: this.#records, lost: this.#lost, patched, left: Object.fromEntries(left), counts };
  }
}
