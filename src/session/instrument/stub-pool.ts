import { callNumber, flagsValue } from "../../abi/named.js";
import { LONGEST_STUB } from "../../binary/code/stub.js";
import { native } from "../../kernel/binding/native.js";
import { isExecutableMapping, type MapEntry, readMaps } from "../../kernel/process/maps.js";

/** Our memory inside a program: stubs near the code that they replace, and texts for the program. */

const POOL_SIZE = 1024 * 1024;
const PAGE = 4096;
/** How far a pool may lie from the code, so that every operand still reaches. */
const REACH = 2 ** 31 - 2 * POOL_SIZE - 2 ** 20;
/** Stacks grow downwards and the heap upwards: keep away from both. */
const ROOM_TO_GROW = 64 * 1024 * 1024;
const LOWEST = 0x10000;
const HIGHEST = 2 ** 47 - PAGE;
const MMAP = BigInt(callNumber("mmap"));
const PROT = {
  read: flagsValue("mmap_prot", "PROT_READ"),
  write: flagsValue("mmap_prot", "PROT_WRITE"),
  exec: flagsValue("mmap_prot", "PROT_EXEC"),
};
const MAP_PRIVATE_ANONYMOUS = flagsValue("mmap_flags", "MAP_PRIVATE|MAP_ANONYMOUS");
const MAP_NORESERVE = flagsValue("mmap_flags", "MAP_NORESERVE");
const MAP_FIXED_NOREPLACE = flagsValue("mmap_flags", "MAP_FIXED_NOREPLACE");
const TRIES = 4;

/** Stubs of one fixed size, so that an address inside one identifies it. */
export class StubPool {
  readonly from: number;
  readonly to: number;
  #used: number;
  /** For each stub, the address of the instruction that it replaces. */
  readonly #sites: number[];

  constructor(from: number, used = 1, sites: number[] = [0]) {
    this.from = from;
    this.to = from + POOL_SIZE;
    this.#used = used;
    this.#sites = sites;
  }

  /** A forked child inherits the memory, and then fills it on its own. */
  copy(): StubPool {
    return new StubPool(this.from, this.#used, [...this.#sites]);
  }

  serves(address: number): boolean {
    return Math.abs(address - this.from) < REACH && this.#used * LONGEST_STUB < POOL_SIZE;
  }

  /** The address of the next stub. */
  get next(): number {
    return this.from + this.#used * LONGEST_STUB;
  }

  take(site: number): void {
    this.#sites[this.#used++] = site;
  }

  /** The site whose stub contains this address. */
  siteOf(address: number): number | undefined {
    if (address < this.from || address >= this.to) return undefined;
    return this.#sites[Math.floor((address - this.from) / LONGEST_STUB)] || undefined;
  }
}

/** Makes a stopped tracee map memory for stubs within reach of `address`. Returns it, or -errno. */
export function makeStubPool(tid: number, gadget: number, address: number): StubPool | number {
  let failed = -12;
  const maps = readMaps(tid);
  for (const place of placesNear(maps, address, POOL_SIZE).slice(0, TRIES)) {
    const flags = MAP_PRIVATE_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    const got = mapMemory(tid, gadget, place, POOL_SIZE, PROT.read | PROT.exec, flags);
    if (got === place) {
      // Its first stub is a syscall instruction, which we use for all later injected calls.
      const written = native().store(tid, BigInt(place), SYSCALL);
      return written < 0 ? written : new StubPool(place);
    }
    failed = got < 0 ? got : failed;
  }
  return failed;
}

/** Maps memory for texts, at any address. */
export function mapTextBuffer(tid: number, gadget: number, size: number): number {
  return mapMemory(tid, gadget, 0, size, PROT.read | PROT.write, MAP_PRIVATE_ANONYMOUS | MAP_NORESERVE);
}

function mapMemory(
  tid: number,
  gadget: number,
  at: number,
  size: number,
  prot: number,
  flags: number,
): number {
  const call = BigUint64Array.of(
    MMAP,
    BigInt(at),
    BigInt(size),
    BigInt(prot),
    BigInt(flags),
    2n ** 64n - 1n,
    0n,
  );
  return native().call(tid, BigInt(gadget), new Uint8Array(call.buffer));
}

const SYSCALL = Uint8Array.of(0x0f, 0x05);
const MOST_SEARCHED = 4 * 1024 * 1024;

/** A syscall instruction in the program's code, even inside another instruction. */
export function findSyscall(tid: number): number | undefined {
  const code = readMaps(tid).filter(isExecutableMapping);
  code.sort((a, b) => Number(b.path === "[vdso]") - Number(a.path === "[vdso]"));
  for (const { from, to, path } of code) {
    if (path === "[vsyscall]") continue;
    const bytes = Buffer.alloc(Math.min(to - from, MOST_SEARCHED));
    const got = native().fetch(tid, BigInt(from), bytes);
    const at = got > 0 ? bytes.subarray(0, got).indexOf(SYSCALL) : -1;
    if (at >= 0) return from + at;
  }
  return undefined;
}

/** Free places of that size near an address, nearest first. */
export function placesNear(maps: readonly MapEntry[], address: number, size: number): number[] {
  const places: number[] = [];
  let end = LOWEST;
  let below: MapEntry | undefined;
  for (const entry of [...maps, undefined]) {
    const top = Math.min(entry?.from ?? HIGHEST, HIGHEST);
    // The heap grows into the memory above the program itself.
    const grows = below !== undefined && (below.path === "[heap]" || below === lastOfMain(maps));
    const from = end + (grows ? ROOM_TO_GROW : 0);
    const to = top - (entry?.path === "[stack]" ? ROOM_TO_GROW : 0) - size;
    if (to >= from) {
      const wanted = Math.min(Math.max(address - (address % PAGE), from), to);
      places.push(wanted);
    }
    end = Math.max(end, entry?.to ?? end);
    below = entry;
  }
  return places
    .filter((place) => Math.abs(place - address) < REACH)
    .sort((a, b) => Math.abs(a - address) - Math.abs(b - address));
}

/** The first mapped file is the program; its data ends where the heap begins. */
function lastOfMain(maps: readonly MapEntry[]): MapEntry | undefined {
  const main = maps.find(({ inode }) => inode !== 0);
  return main && maps.findLast(({ path, inode }) => inode === main.inode && path === main.path);
}
