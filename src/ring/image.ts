import { native } from "../kernel/native.js";
import { LANE, MAX_LANES } from "./lane.js";
import { LaneReader } from "./reader.js";

/** What a stopped thread can be made to do, and have done to its memory. Negative results are -errno. */
export interface Hands {
  /** Has the thread call the kernel. */
  call(tid: number, nr: number, ...args: number[]): number;
  store(tid: number, address: number, bytes: Uint8Array): number;
  /** Fresh memory for code, within reach of a jump from all of these addresses; undefined when there is none. */
  near(tid: number, from: number, to: number, size: number): number | undefined;
  /** One byte at each of the addresses. Returns how many could be written. */
  patch(tid: number, addresses: readonly number[], bytes: Uint8Array): number;
}

/** Where the code that makes recorded calls lies, in every process: the filter knows it by its address. */
export const GATE = { from: 0x7000_0000, to: 0x7010_0000, table: 0x7000_0000, code: 0x7000_0400 } as const;

/** Each image has a place of its own for its lanes, so that an inherited gs register tells whose child a thread is. */
const LANES_AT = 0x6a00_0000_0000;
const SPAN = 0x2000_0000;
const PLACES = 4096;

const MMAP = 9;
const CLOSE = 3;
const MEMFD_CREATE = 319;
const READ_WRITE = 3;
const READ_EXECUTE = 5;
const SHARED_THERE = 0x10_0001; // MAP_SHARED | MAP_FIXED_NOREPLACE
const PRIVATE_THERE = 0x10_0022; // MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE
const CLOSED_AND_SEALED = 3; // MFD_CLOEXEC | MFD_ALLOW_SEALING

/** The lane that is always full. */
const OVERFLOW = 0;

/** One program in memory: what an exec put there, and its children by fork share. */
export class Image {
  readonly place: number;
  readonly lanes: LaneReader[] = [];
  readonly #memory: ArrayBuffer;
  readonly #free: number[] = [];
  /** Threads that write here. */
  threads = 0;
  /** Where the next stub goes, and what number its site has. */
  gate: number = GATE.code;
  sites = 0;

  private constructor(place: number, memory: ArrayBuffer) {
    this.place = place;
    this.#memory = memory;
    this.lanes[OVERFLOW] = new LaneReader(memory, OVERFLOW);
    this.lanes[OVERFLOW].fill();
  }

  /** Makes the memory in a program that has not begun to run; or says what failed. */
  static make(hands: Hands, tid: number, place: number, calls: Uint8Array): Image | string {
    const gate = hands.call(tid, MMAP, GATE.from, GATE.to - GATE.from, READ_EXECUTE, PRIVATE_THERE, -1, 0);
    if (gate !== GATE.from) return "its own memory is where our code has to be";
    hands.store(tid, GATE.table, calls);
    hands.store(tid, GATE.code, new TextEncoder().encode("hermes\0"));
    const fd = hands.call(tid, MEMFD_CREATE, GATE.code, CLOSED_AND_SEALED);
    if (fd < 0) return "no memory can be shared with it";
    const memory = native().mapShared(tid, fd, MAX_LANES * LANE.size);
    const at = LANES_AT + place * SPAN;
    const mapped =
      typeof memory === "number"
        ? memory
        : hands.call(tid, MMAP, at, MAX_LANES * LANE.size, READ_WRITE, SHARED_THERE, fd, 0);
    hands.call(tid, CLOSE, fd);
    if (typeof memory === "number" || mapped !== at) return "no memory can be shared with it";
    return new Image(place, memory);
  }

  /** A lane for one more thread. When all are taken, it is the one that has no room: then its calls count as lost. */
  take(): LaneReader {
    let index = this.#free.pop() ?? this.lanes.length;
    if (index >= MAX_LANES) index = OVERFLOW;
    this.lanes[index] ??= new LaneReader(this.#memory, index);
    this.threads++;
    return this.lanes[index]!;
  }

  release(lane: LaneReader): void {
    this.threads--;
    if (lane.index !== OVERFLOW) this.#free.push(lane.index);
  }

  address(lane: LaneReader): number {
    return LANES_AT + this.place * SPAN + lane.index * LANE.size;
  }
}

/** Which image's place an address of a lane belongs to; undefined when it is no lane's. */
export function placeOf(gsBase: number): number | undefined {
  const place = Math.floor((gsBase - LANES_AT) / SPAN);
  return gsBase >= LANES_AT && place < PLACES ? place : undefined;
}

/** Places for new images, the ones that were longest unused first. */
export class Places {
  #next = 0;

  take(isUsed: (place: number) => boolean): number | undefined {
    for (let i = 0; i < PLACES; i++) {
      const place = this.#next++ % PLACES;
      if (!isUsed(place)) return place;
    }
    return undefined;
  }
}
