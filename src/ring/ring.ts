import { native } from "../kernel/native.js";
import type { Module } from "../process/modules.js";
import { CycleClock } from "./clock.js";
import { GATE, type Hands, Image, Places, placeOf } from "./image.js";
import { type OpenCall, OpenCalls } from "./open-calls.js";
import { Patcher, type RingFunction, type WantedFunction } from "./patcher.js";
import type { LaneReader, Listener } from "./reader.js";
import type { WhenFull } from "./stub.js";

/** What the ring tells. Times are seconds since 1970, values the registers with their low half first. */
export interface RingSink {
  /** A system call; its result is what `values` and `result` say, and `elapsed` is negative when it never returned. */
  call(tid: number, pid: number, time: number, call: OpenCall, result: Uint32Array, elapsed: number): void;
  /** A function that was called. */
  entered(tid: number, pid: number, time: number, called: RingFunction, values: Uint32Array): void;
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

const NO_RESULT = new Uint32Array(12);

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
    thread.open.end(this.#neverReturned);
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

  /**
   * Code has been mapped, and has not yet run. Returns the functions that cannot be observed where they begin, or whose
   * place is `taken`: they are to be observed in another way.
   */
  mapped(tid: number, module: Module, taken: (address: number) => boolean): RingFunction[] {
    const image = this.#threads.get(tid)?.image;
    if (!image) return [];
    const { calls, functionsOf, recordsFunctions } = this.#o;
    if (calls.size > 0) this.patcher.patchCalls(tid, image, module);
    const wanted = functionsOf(module).map((each) =>
      taken(each.address) ? { ...each, unfit: "a policy decides on it" } : each,
    );
    return this.patcher.patchFunctions(tid, image, module, wanted, recordsFunctions);
  }

  /** A function that was observed in another way was called. */
  stopped(tid: number, time: number, called: RingFunction, values: Uint32Array): void {
    this.#counts[called.id] = (this.#counts[called.id] ?? 0) + 1;
    this.#records++;
    const pid = this.#threads.get(tid)?.pid ?? this.#o.pidOf(tid);
    if (this.#o.recordsFunctions) this.#o.sink.entered(tid, pid, time, called, values);
  }

  unseen({ name }: RingFunction): void {
    this.patcher.left.set(name, "it cannot be observed at all");
    this.#o.problem(`${name} cannot be observed, and its calls are not seen`);
  }

  /** Where a thread goes on that stopped because its lane was full; undefined when it did not stop for that. */
  full(tid: number, address: number): number | undefined {
    const thread = this.#threads.get(tid);
    const retry = thread && this.patcher.retryOf(thread.image, address);
    if (retry === undefined) return undefined;
    this.#read(tid, thread!, false);
    // A lane that never has room: the thread goes on behind its stop, where the call is counted as lost.
    return thread!.lane.hasRoom ? retry : address + 1;
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
    const call = this.#reading!.open.push();
    if (!call) return;
    call.nr = nr;
    call.site = site;
    call.cycles = cycles;
    call.values.set(values);
  }

  returned(_lane: number, cycles: number, site: number, values: Uint32Array): void {
    const call = this.#reading!.open.pop(site, this.#neverReturned);
    if (call) this.#tell(call, values, Math.max(0, cycles - call.cycles));
  }

  readonly #neverReturned = (call: OpenCall) => this.#tell(call, NO_RESULT, -1);

  #tell(call: OpenCall, result: Uint32Array, cycles: number): void {
    if (call.told) return;
    this.#records++;
    const elapsed = cycles < 0 ? -1 : this.#clock.seconds(cycles);
    const time = this.#clock.time(call.cycles);
    this.#o.sink.call(this.#readingTid, this.#reading!.pid, time, call, result, elapsed);
  }

  /** A call of the thread came through a door after all, which tells of it. */
  seenAtDoor(tid: number, ip: bigint): void {
    if (ip < GATE.from || ip > GATE.to) return;
    const last = this.#threads.get(tid)?.open.last;
    if (last) last.told = true;
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

  /** How often each function was called, once no thread is left; exact, also where records were lost. */
  *counted(): Generator<[called: RingFunction, count: number]> {
    for (const each of this.patcher.functions) yield [each, this.#counts[each.id] ?? 0];
  }

  /** Once no thread is left. */
  report(): RingReport {
    for (const tid of [...this.#threads.keys()]) this.exited(tid);
    const { patched, left } = this.patcher;
    const counts: Record<string, number> = Object.create(null);
    for (const [{ name }, count] of this.counted()) counts[name] = (counts[name] ?? 0) + count;
    return { records: this.#records, lost: this.#lost, patched, left: Object.fromEntries(left), counts };
  }
}
