import { callNumber, flagsValue } from "../../abi/named.js";
import { native } from "../../kernel/binding/native.js";
import { LANE, MAX_LANES } from "./lane.js";
import { LaneReader } from "./reader.js";

/** Operations on a stopped thread and its memory. Negative results are -errno. */
export interface TraceeTools {
  /** Injects a system call into the thread. */
  call(tid: number, nr: number, ...args: number[]): number;
  store(tid: number, address: number, bytes: Uint8Array): number;
  /** New memory for code, within jump distance of all these addresses; undefined when there is none. */
  near(tid: number, from: number, to: number, size: number): number | undefined;
  /** Writes one byte to each address. Returns how many were written. */
  patch(tid: number, addresses: readonly number[], bytes: Uint8Array): number;
}

/**
 * The code that makes recorded calls has this address in every process: the filter recognizes it by address.
 */
export const GATE = { from: 0x7000_0000, to: 0x7010_0000, table: 0x7000_0000, code: 0x7000_0400 } as const;

/**
 * Each image has its own address range for lanes, so that an inherited gs register tells whose child a thread
 * is.
 */
const LANES_AT = 0x6a00_0000_0000;
const SPAN = 0x2000_0000;
const PLACES = 4096;

const MMAP = callNumber("mmap");
const CLOSE = callNumber("close");
const MEMFD_CREATE = callNumber("memfd_create");
const READ_WRITE = flagsValue("mmap_prot", "PROT_READ|PROT_WRITE");
const READ_EXECUTE = flagsValue("mmap_prot", "PROT_READ|PROT_EXEC");
const SHARED_THERE = flagsValue("mmap_flags", "MAP_SHARED|MAP_FIXED_NOREPLACE");
const PRIVATE_THERE = flagsValue("mmap_flags", "MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE");
const CLOSED_AND_SEALED = flagsValue("memfd", "MFD_CLOEXEC|MFD_ALLOW_SEALING");

/** The lane that is always full. */
const OVERFLOW = 0;

/** The memory of one program: created by an exec, shared with its forked children. */
export class Image {
  readonly place: number;
  readonly lanes: LaneReader[] = [];
  readonly #memory: ArrayBuffer;
  readonly #free: number[] = [];
  /** The number of threads that write here. */
  threads = 0;
  /** The address of the next stub, and the number of its site. */
  gate: number = GATE.code;
  sites = 0;

  private constructor(place: number, memory: ArrayBuffer) {
    this.place = place;
    this.#memory = memory;
    this.lanes[OVERFLOW] = new LaneReader(memory, OVERFLOW);
    this.lanes[OVERFLOW].fill();
  }

  /** Creates the memory in a program that has not begun to run. Returns it, or the reason for the failure. */
  static make(hands: TraceeTools, tid: number, place: number, calls: Uint8Array): Image | string {
    const gate = hands.call(tid, MMAP, GATE.from, GATE.to - GATE.from, READ_EXECUTE, PRIVATE_THERE, -1, 0);
    if (gate !== GATE.from) return "the program's own memory occupies the address range of the recorder";
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

  /**
   * Takes a lane for one more thread. When all are taken, returns the lane without room: the thread's calls
   * then count as lost.
   */
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

/** The image that a lane's address belongs to; undefined when it is no lane's address. */
export function imageSlot(gsBase: number): number | undefined {
  const place = Math.floor((gsBase - LANES_AT) / SPAN);
  return gsBase >= LANES_AT && place < PLACES ? place : undefined;
}

/** Address ranges for new images, least recently used first. */
export class ImageSlots {
  #next = 0;

  take(isUsed: (place: number) => boolean): number | undefined {
    for (let i = 0; i < PLACES; i++) {
      const place = this.#next++ % PLACES;
      if (!isUsed(place)) return place;
    }
    return undefined;
  }
}
