import { native } from "../../kernel/binding/native.js";
import type { Module } from "../../kernel/process/modules.js";
import { CycleClock } from "./clock.js";
import { GATE, Image, ImageSlots, imageSlot, type TraceeTools } from "./image.js";
import { type OpenCall, OpenCalls } from "./open-calls.js";
import { type FunctionToPatch, Patcher, type RingFunction } from "./patcher.js";
import type { LaneListener, LaneReader } from "./reader.js";
import type { WhenFull } from "./stub.js";

/** Receives the ring's records. Times are seconds since 1970, values are registers, low half first. */
export interface RingSink {
  /** A system call with its result in `values` and `result`; `elapsed` is negative when it never returned. */
  call(tid: number, pid: number, time: number, call: OpenCall, result: Uint32Array, elapsed: number): void;
  /** A function call. */
  entered(tid: number, pid: number, time: number, called: RingFunction, values: Uint32Array): void;
}

interface RingOptions {
  readonly hands: TraceeTools;
  /** Numbers of the system calls that are recorded inside the program. */
  readonly calls: ReadonlySet<number>;
  readonly whenFull: WhenFull;
  /** The observed functions of a module. */
  readonly functionsOf: (module: Module) => readonly FunctionToPatch[];
  /** True: record each call of a function. False: only count them. */
  readonly recordsFunctions: boolean;
  readonly sink: RingSink;
  readonly pidOf: (tid: number) => number;
  /** Reports a problem to the user. */
  readonly problem: (text: string) => void;
}

const NO_RESULT = new Uint32Array(12);

interface Thread {
  readonly image: Image;
  readonly lane: LaneReader;
  readonly pid: number;
  readonly open: OpenCalls;
}

/** A summary of the fast tier. */
export interface RingReport {
  /** Calls and functions recorded inside the program. */
  readonly records: number;
  readonly lost: number;
  /** How many places have a stub. */
  readonly patched: number;
  /** Functions without a stub, and why. */
  readonly left: Readonly<Record<string, string>>;
  /** How often each function was called; exact even if records were lost. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * The observe-only tier: our code inside the program writes a record of each call to shared memory. The
 * program could also suppress a record. So this is observability only, not a security boundary, and never
 * decides.
 */
export class Ring implements LaneListener {
  readonly #o: RingOptions;
  readonly #clock = new CycleClock();
  readonly #places = new ImageSlots();
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

  /** A new program is loaded and has not begun to run. */
  execed(tid: number): void {
    this.exited(tid);
    const place = this.#places.take((taken) => this.#images.has(taken));
    const image =
      place === undefined
        ? "too many programs run at once"
        : Image.make(this.#o.hands, tid, place, this.#table);
    if (typeof image === "string") {
      this.#o.problem(`process ${tid} is observed through the ordinary doors, more slowly: ${image}`);
      return;
    }
    this.#images.set(image.place, image);
    this.#adopt(tid, image);
  }

  /** A new thread or process that has not begun to run. It has its parent's registers. */
  born(tid: number): void {
    const place = imageSlot(native().gsBase(tid));
    const image = place === undefined ? undefined : this.#images.get(place);
    if (image) this.#adopt(tid, image);
  }

  #adopt(tid: number, image: Image): void {
    const lane = image.take();
    native().setGsBase(tid, image.address(lane));
    this.#threads.set(tid, { image, lane, pid: this.#o.pidOf(tid), open: new OpenCalls() });
  }

  /** A thread or its program has ended: reads its lane to the end. */
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

  /** A thread that calls exec takes over the leader's tid. */
  moved(from: number, to: number): void {
    this.exited(to);
    const thread = this.#threads.get(from);
    this.#threads.delete(from);
    if (thread) this.#threads.set(to, thread);
  }

  /**
   * New code that has not run yet. Returns the functions that cannot be observed at their beginning, or whose
   * place is `taken`: they need another mechanism.
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

  /** A function that is observed by another mechanism was called. */
  stopped(tid: number, time: number, called: RingFunction, values: Uint32Array): void {
    this.#counts[called.id] = (this.#counts[called.id] ?? 0) + 1;
    this.#records++;
    const pid = this.#threads.get(tid)?.pid ?? this.#o.pidOf(tid);
    if (this.#o.recordsFunctions) this.#o.sink.entered(tid, pid, time, called, values);
  }

  unseen({ name }: RingFunction): void {
    this.patcher.left.set(name, "it cannot be observed at all");
    this.#o.problem(`${name} cannot be observed: its calls are missing from the record`);
  }

  /** Where a thread continues that stopped at a full lane; undefined when it stopped for another reason. */
  full(tid: number, address: number): number | undefined {
    const thread = this.#threads.get(tid);
    const retry = thread && this.patcher.retryOf(thread.image, address);
    if (retry === undefined) return undefined;
    this.#read(tid, thread!, false);
    // If the lane never has room, the thread continues after its stop, and the call counts as lost.
    return thread!.lane.hasRoom ? retry : address + 1;
  }

  // ---------------------------------------------------------------- records

  /** Reads new records. Cheap when there are none. */
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

  /** A call of the thread came through a door after all, and the door reports it. */
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

  /** How often each function was called. Call it when no thread is left; exact even if records were lost. */
  *counted(): Generator<[called: RingFunction, count: number]> {
    for (const each of this.patcher.functions) yield [each, this.#counts[each.id] ?? 0];
  }

  /** Call it when no thread is left. */
  report(): RingReport {
    for (const tid of [...this.#threads.keys()]) this.exited(tid);
    const { patched, left } = this.patcher;
    const counts: Record<string, number> = Object.create(null);
    for (const [{ name }, count] of this.counted()) counts[name] = (counts[name] ?? 0) + count;
    return { records: this.#records, lost: this.#lost, patched, left: Object.fromEntries(left), counts };
  }
}
