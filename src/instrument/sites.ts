import { LONGEST_INSTRUCTION, makeStub } from "../code/stub.js";
import { ANSWER, ANSWER_FLAG, ANSWER_OFFSET, EVENT_FIELD, REGISTER } from "../kernel/layout.js";
import { native } from "../kernel/native.js";
import { RegisterFile } from "../kernel/registers.js";
import { Answer, Stop } from "../kernel/stop.js";
import { readText } from "../process/proc.js";
import { byteAt, codeAt } from "./code-at.js";
import { findSyscall, makePool, type Pool } from "./pool.js";
import { Space } from "./space.js";
import { restoreTrapAction } from "./traps.js";

/**
 * Places in a program's code at which it stops for us: an int3 that stays, while the instruction it stands on is
 * executed elsewhere, in a stub. Nothing is single-stepped, so no thread can slip by.
 *
 *   sites.place(tid, space, [address, …], owner)                  // stays; returns what could not be placed
 *   sites.place(tid, space, [address, …], owner, { once: true })  // goes away at the first hit; needs no stub
 *   sites.remove(tid, space, [address, …], owner)
 *   owner.hit(hit) → 0, or for how many milliseconds the thread is to be held (then sites.take(hit) before returning)
 *
 * In hit(): `hit.registers` are the thread's as it stands before the site's instruction; change them as you like.
 * `hit.goTo(address)` to go on elsewhere, and have no other owner asked; `hit.killed = true` to end the process;
 * `hit.signal = n` to send it a signal besides. `hit.address` is the site.
 * Several owners may share a site. A tid that places must be stopped, and not inside a system call: at a hit, at the
 * return of a call, at the return of an exec. `spaceOf(tid)` is its memory; fork copies it, threads and vfork share it.
 * Signals besides SIGTRAP: `sites.watch("SIGSEGV" number, handler)`; the handler says whether it was its own.
 */
export interface SiteOwner {
  hit(hit: Hit): number;
}

export interface Site {
  readonly address: number;
  /** What stood there. */
  readonly byte: number;
  /** Where a thread goes on: its stub, or behind an instruction that does nothing. 0: only in its own place. */
  readonly resume: number;
  /** Where in the stub the instruction is over. */
  readonly done: number;
  readonly owners: readonly Ownership[];
}

interface Ownership {
  readonly owner: SiteOwner;
  readonly once: boolean;
}

/** A thread at a site. One object for all: what is needed later must be copied. */
export class Hit {
  tid = 0;
  address = 0;
  space = new Space();
  time = 0;
  settled = false;
  /** A signal that the thread gets besides. */
  signal = 0;
  /** Its process ends here. */
  killed = false;
  readonly registers: RegisterFile;

  constructor(registers: RegisterFile) {
    this.registers = registers;
  }

  goTo(address: number): void {
    this.registers.set(REGISTER.rip, address);
    this.settled = true;
  }
}

/** A hit that waits for its time. */
export interface TakenHit {
  readonly address: number;
  readonly space: Space;
  /** The event, registers included. */
  readonly event: Uint8Array;
}

/** Says whether the signal was its own, and is not for the program. */
export type SignalHandler = (hit: Hit, stop: Stop) => boolean;

const INT3 = 0xcc;
const SIGTRAP = 5;
const SI_KERNEL = 0x80;
/** Faults of an instruction in a stub are told as those of the instruction in its place. */
const FAULTS: ReadonlySet<number> = new Set([4, 7, 8, 11]);

export class Sites {
  readonly #stop: Stop;
  readonly #answer: Answer;
  readonly #hit: Hit;
  readonly #spaces = new Map<number, Space>();
  readonly #watched = new Map<number, SignalHandler[]>();

  constructor(memory: ArrayBufferLike) {
    this.#stop = new Stop(memory);
    this.#answer = new Answer(memory);
    this.#hit = new Hit(new RegisterFile(memory, EVENT_FIELD.registers));
    for (const signal of [SIGTRAP, ...FAULTS]) this.#watched.set(signal, []);
  }

  /** Which signals the native half is to report: bit n - 1 for signal n. */
  get signals(): bigint {
    let mask = 0n;
    for (const signal of this.#watched.keys()) mask |= 1n << BigInt(signal - 1);
    return mask;
  }

  watch(signal: number, handler: SignalHandler): void {
    this.#watched.set(signal, [...(this.#watched.get(signal) ?? []), handler]);
  }

  // ---------------------------------------------------------------- whose memory

  spaceOf(tid: number): Space {
    return this.#spaces.get(tid) ?? this.#adopt(tid);
  }

  /** Of one whose parent was killed before it could tell of it. */
  #adopt(tid: number): Space {
    const status = readText(`/proc/${tid}/status`);
    const elders = [/^Tgid:\t(\d+)$/m, /^PPid:\t(\d+)$/m].map((line) => Number(line.exec(status)?.[1] ?? 0));
    const elder = elders.find((pid) => pid !== tid && this.#spaces.has(pid));
    if (elder !== undefined) this.forked(elder, tid);
    else this.#spaces.set(tid, new Space());
    return this.#spaces.get(tid)!;
  }

  /** Puts back what stood at every site. Threads in a stub find their own way out of it. */
  restore(tid: number, space: Space): void {
    for (const { address, byte } of [...space.sites])
      if (byteAt(tid, address) === INT3) native().store(tid, BigInt(address), Uint8Array.of(byte));
  }

  /** Every memory, and a thread that has it. */
  *spaces(): IterableIterator<[tid: number, space: Space]> {
    const seen = new Set<Space>();
    for (const [tid, space] of this.#spaces) {
      if (seen.has(space)) continue;
      seen.add(space);
      yield [tid, space];
    }
  }

  forked(parent: number, child: number): void {
    const space = this.spaceOf(parent);
    const same = native().sameMemory(parent, child);
    this.#spaces.set(child, same === 1 ? space : space.copy());
  }

  /** Another program, in memory of its own. */
  execed(tid: number): Space {
    const space = new Space();
    this.#spaces.set(tid, space);
    return space;
  }

  exited(tid: number): void {
    this.#spaces.get(tid)?.frames.exited(tid);
    this.#spaces.delete(tid);
  }

  // ---------------------------------------------------------------- placing

  /** Returns the addresses at which it could not be. */
  place(
    tid: number,
    space: Space,
    addresses: readonly number[],
    owner: SiteOwner,
    how: { once?: boolean } = {},
  ): number[] {
    return this.placeEach(
      tid,
      space,
      addresses.map((address) => [address, owner] as const),
      how,
    );
  }

  /** The same, each with an owner of its own. */
  placeEach(
    tid: number,
    space: Space,
    places: readonly (readonly [address: number, owner: SiteOwner])[],
    { once = false }: { once?: boolean } = {},
  ): number[] {
    const failed: number[] = [];
    const made: Site[] = [];
    const batch = new Batch(tid, space);
    for (const [address, owner] of places) {
      const known = space.site(address);
      if (known?.owners.some((one) => one.owner === owner)) continue;
      const owners = [...(known?.owners ?? []), { owner, once }];
      if (known && (once || known.resume !== 0)) {
        space.set({ ...known, owners });
        continue;
      }
      const code = codeAt(tid, space, address, LONGEST_INSTRUCTION);
      const moved = once ? IN_PLACE : code && batch.stub(code, address);
      if (!code || !moved) failed.push(address);
      else made.push({ address, byte: code[0]!, ...moved, owners });
    }
    if (batch.write() < 0) return [...failed, ...made.map(({ address }) => address)];
    const written = patch(tid, made, () => INT3);
    for (const site of made.slice(0, written)) space.set(site);
    return [...failed, ...made.slice(written).map(({ address }) => address)];
  }

  /** Where nobody else owns it, the program has its code back. */
  remove(tid: number, space: Space, addresses: Iterable<number>, owner: SiteOwner): void {
    const gone: Site[] = [];
    for (const address of addresses) {
      const site = space.site(address);
      if (!site?.owners.some((one) => one.owner === owner)) continue;
      const owners = site.owners.filter((one) => one.owner !== owner);
      if (owners.length > 0) space.set({ ...site, owners });
      else {
        space.delete(address);
        if (byteAt(tid, address) === INT3) gone.push(site);
      }
    }
    patch(tid, gone, ({ byte }) => byte);
  }

  /** Memory in [from, to) is not what it was: what we had there is gone. Returns the addresses. */
  forget(space: Space, from: number, to: number): number[] {
    const gone = space.within(from, to).map(({ address }) => address);
    for (const address of gone) space.delete(address);
    return gone;
  }

  /** Memory in [from, to) was made executable (again): what was written over meanwhile is no longer ours. */
  check(tid: number, space: Space, from: number, to: number): void {
    for (const { address } of space.within(from, to))
      if (byteAt(tid, address) !== INT3) space.delete(address);
  }

  // ---------------------------------------------------------------- hits

  /** A signal is on its way to the program. Returns 0 when the answer is in the buffer, or how long it is held. */
  signal(): number {
    const { tid, nr, peer: code, time } = this.#stop;
    const { registers } = this.#hit;
    const space = this.spaceOf(tid);
    const hit = this.#begin(tid, space, registers.get(REGISTER.rip), time);
    if (nr === SIGTRAP && code === SI_KERNEL) {
      const address = hit.address - 1;
      const site = space.site(address);
      if (site) return this.#atSite(site, tid, space, time);
      if (space.removed.has(address) && byteAt(tid, address) !== INT3) {
        registers.set(REGISTER.rip, address);
        this.#goOn();
        return 0;
      }
    }
    for (const handler of this.#watched.get(nr) ?? [])
      if (handler(hit, this.#stop)) {
        this.#goOn();
        return 0;
      }
    const moved = FAULTS.has(nr) && code > 0 && this.#backInPlace(space);
    this.#answer.begin(ANSWER.continue, moved ? ANSWER_FLAG.registers : 0).result(nr);
    return 0;
  }

  #begin(tid: number, space: Space, address: number, time: number): Hit {
    const hit = this.#hit;
    hit.tid = tid;
    hit.space = space;
    hit.address = address;
    hit.time = time;
    hit.settled = hit.killed = false;
    hit.signal = 0;
    return hit;
  }

  #atSite(site: Site, tid: number, space: Space, time: number): number {
    const hit = this.#begin(tid, space, site.address, time);
    hit.registers.set(REGISTER.rip, site.address);
    for (const { owner, once } of site.owners) {
      if (once) this.#spend(tid, space, site.address, owner);
      const held = owner.hit(hit);
      if (held > 0) {
        this.#answer.begin(ANSWER.hold);
        return held;
      }
      if (hit.settled) break;
    }
    this.#pass(hit);
    return 0;
  }

  /** On to the instruction, wherever it is now: an owner may have removed the site, or placed another at its address. */
  #pass(hit: Hit): void {
    const resume = hit.space.site(hit.address)?.resume ?? 0;
    if (!hit.settled && resume !== 0) hit.registers.set(REGISTER.rip, resume);
    if (hit.space.trapAction) restoreTrapAction(hit.tid, hit.space);
    this.#goOn();
  }

  #spend(tid: number, space: Space, address: number, owner: SiteOwner): void {
    this.remove(tid, space, [address], owner);
  }

  #goOn(): void {
    if (this.#hit.killed) this.#answer.begin(ANSWER.kill);
    else this.#answer.begin(ANSWER.continue, ANSWER_FLAG.registers).result(0).signal(this.#hit.signal);
  }

  /** A thread that faulted in a stub is shown where the instruction belongs. */
  #backInPlace(space: Space): boolean {
    const { registers } = this.#hit;
    const rip = registers.get(REGISTER.rip);
    const address = space.pools.map((pool) => pool.siteOf(rip)).find((found) => found !== undefined);
    if (address === undefined) return false;
    registers.set(REGISTER.rip, address);
    return true;
  }

  /** Keeps a hit that is to be held: its registers are needed when its time comes. */
  take(hit: Hit): TakenHit {
    const { address, space } = hit;
    return { address, space, event: Uint8Array.from(this.#stop.bytes.subarray(0, ANSWER_OFFSET)) };
  }

  /** Its time has come: it is as it was at the hit, and `decide` may change it. The answer is in the buffer. */
  release(taken: TakenHit, decide: (hit: Hit) => void): void {
    this.#stop.bytes.set(taken.event);
    decide(this.#begin(this.#stop.tid, taken.space, taken.address, this.#stop.time));
    this.#pass(this.#hit);
  }
}

const IN_PLACE = { resume: 0, done: 0 };

/** Stubs that are made together lie behind one another, and are written at once. */
class Batch {
  readonly #tid: number;
  readonly #space: Space;
  #pool: Pool | undefined;
  #from = 0;
  #parts: { at: number; bytes: Uint8Array }[] = [];
  #failed = 0;

  constructor(tid: number, space: Space) {
    this.#tid = tid;
    this.#space = space;
  }

  stub(code: Uint8Array, address: number): { resume: number; done: number } | undefined {
    const pool = this.#poolFor(address);
    if (!pool) return undefined;
    const at = pool.next;
    const stub = makeStub(code, address, at);
    if (!stub) return undefined;
    if ("skip" in stub) return { resume: address + stub.skip, done: 0 };
    pool.take(address);
    this.#parts.push({ at, bytes: stub.bytes });
    return { resume: at, done: at + stub.done };
  }

  #poolFor(address: number): Pool | undefined {
    if (this.#pool?.serves(address)) return this.#pool;
    if (this.write() < 0) return undefined;
    this.#pool = poolNear(this.#tid, this.#space, address);
    this.#from = this.#pool?.next ?? 0;
    return this.#pool;
  }

  /** 0, or -errno: then nothing of it may be used. */
  write(): number {
    const [first] = this.#parts;
    const last = this.#parts.at(-1);
    if (first && last && this.#failed === 0) {
      const bytes = new Uint8Array(last.at + last.bytes.length - this.#from);
      for (const part of this.#parts) bytes.set(part.bytes, part.at - this.#from);
      this.#failed = native().store(this.#tid, BigInt(this.#from), bytes);
    }
    this.#parts = [];
    this.#from = this.#pool?.next ?? 0;
    return this.#failed;
  }
}

/** Memory for stubs within reach of an address; made when there is none yet. */
export function poolNear(tid: number, space: Space, address: number): Pool | undefined {
  const known = space.pools.find((pool) => pool.serves(address));
  if (known) return known;
  if (space.gadget === 0) space.gadget = findSyscall(tid) ?? 0;
  if (space.gadget === 0) return undefined;
  const made = makePool(tid, space.gadget, address);
  if (typeof made === "number") return undefined;
  space.pools.push(made);
  space.gadget = made.from;
  return made;
}

function patch(tid: number, sites: readonly Site[], value: (site: Site) => number): number {
  if (sites.length === 0) return 0;
  const addresses = BigUint64Array.from(sites, ({ address }) => BigInt(address));
  const written = native().patch(tid, new Uint8Array(addresses.buffer), Uint8Array.from(sites, value));
  return Math.max(0, written);
}
