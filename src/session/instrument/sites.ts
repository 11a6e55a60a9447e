import { signalValue } from "../../abi/named.js";
import { LONGEST_INSTRUCTION, makeInstructionStub } from "../../binary/code/stub.js";
import { ANSWER, ANSWER_FLAG, ANSWER_OFFSET, EVENT_FIELD, REGISTER } from "../../kernel/binding/layout.js";
import { native } from "../../kernel/binding/native.js";
import { RegisterFile } from "../../kernel/binding/registers.js";
import { Stop, StopAnswer } from "../../kernel/binding/stop.js";
import { readText } from "../../kernel/process/proc.js";
import { PatchedMemory } from "./patched-memory.js";
import { codeAt, readByte } from "./read-code.js";
import { findSyscall, makeStubPool, type StubPool } from "./stub-pool.js";
import { restoreTrapAction } from "./traps.js";

/**
 * Breakpoints in a program's code. An int3 stays in place, while the instruction that it replaced runs
 * elsewhere, in a stub. Nothing is single-stepped, so no thread can slip by.
 *
 *   sites.place(tid, space, [address, …], owner)                  // permanent; returns the addresses that failed
 *   sites.place(tid, space, [address, …], owner, { once: true })  // removed at the first hit; needs no stub
 *   sites.remove(tid, space, [address, …], owner)
 *   owner.hit(hit) → 0, or milliseconds to hold the thread (then call sites.take(hit) before returning)
 *
 * In hit(): `hit.registers` are the thread's before the site's instruction and can be changed.
 * `hit.goTo(address)` continues elsewhere, without asking other owners. `hit.killed = true` ends the process.
 * `hit.signal = n` also sends a signal. `hit.address` is the site. Several owners may share a site. A tid
 * that places must be stopped outside a system call: at a hit, at the return of a call, at the return of an
 * exec. `spaceOf(tid)` is its address space; fork copies it, threads and vfork share it. Signals besides
 * SIGTRAP: `sites.watch("SIGSEGV" number, handler)`; the handler returns whether it consumed the signal.
 */
export interface SiteOwner {
  hit(hit: SiteHit): number;
}

export interface Site {
  readonly address: number;
  /** The original byte. */
  readonly byte: number;
  /**
   * Where a thread continues: its stub, or after an instruction without effect. 0: only at its original
   * place.
   */
  readonly resume: number;
  /** Where in the stub the instruction is complete. */
  readonly done: number;
  readonly owners: readonly Ownership[];
}

interface Ownership {
  readonly owner: SiteOwner;
  readonly once: boolean;
}

/** A thread at a site. One object is reused for all: copy what you need later. */
export class SiteHit {
  tid = 0;
  address = 0;
  space = new PatchedMemory();
  time = 0;
  handled = false;
  /** An additional signal for the thread. */
  signal = 0;
  /** The process ends here. */
  killed = false;
  readonly registers: RegisterFile;

  constructor(registers: RegisterFile) {
    this.registers = registers;
  }

  goTo(address: number): void {
    this.registers.set(REGISTER.rip, address);
    this.handled = true;
  }
}

/** A hit that is held. */
export interface TakenSiteHit {
  readonly address: number;
  readonly space: PatchedMemory;
  /** The event, registers included. */
  readonly event: Uint8Array;
}

/** Returns true when it consumed the signal, so that the program does not get it. */
type SignalHandler = (hit: SiteHit, stop: Stop) => boolean;

const INT3 = 0xcc;
const SIGTRAP = signalValue("SIGTRAP");
const SI_KERNEL = 0x80;
/** Faults inside a stub are reported as faults of the original instruction. */
const FAULTS: ReadonlySet<number> = new Set(["SIGILL", "SIGBUS", "SIGFPE", "SIGSEGV"].map(signalValue));

export class Sites {
  readonly #stop: Stop;
  readonly #answer: StopAnswer;
  readonly #hit: SiteHit;
  readonly #spaces = new Map<number, PatchedMemory>();
  readonly #watched = new Map<number, SignalHandler[]>();

  constructor(memory: ArrayBufferLike) {
    this.#stop = new Stop(memory);
    this.#answer = new StopAnswer(memory);
    this.#hit = new SiteHit(new RegisterFile(memory, EVENT_FIELD.registers));
    for (const signal of [SIGTRAP, ...FAULTS]) this.#watched.set(signal, []);
  }

  /** The signals that the native half reports: bit n - 1 for signal n. */
  get signals(): bigint {
    let mask = 0n;
    for (const signal of this.#watched.keys()) mask |= 1n << BigInt(signal - 1);
    return mask;
  }

  watch(signal: number, handler: SignalHandler): void {
    this.#watched.set(signal, [...(this.#watched.get(signal) ?? []), handler]);
  }

  // ---------------------------------------------------------------- address spaces

  spaceOf(tid: number): PatchedMemory {
    return this.#spaces.get(tid) ?? this.#adopt(tid);
  }

  /** A process whose parent was killed before it could report the birth. */
  #adopt(tid: number): PatchedMemory {
    const status = readText(`/proc/${tid}/status`);
    const elders = [/^Tgid:\t(\d+)$/m, /^PPid:\t(\d+)$/m].map((line) => Number(line.exec(status)?.[1] ?? 0));
    const elder = elders.find((pid) => pid !== tid && this.#spaces.has(pid));
    if (elder !== undefined) this.forked(elder, tid);
    else this.#spaces.set(tid, new PatchedMemory());
    return this.#spaces.get(tid)!;
  }

  /** Restores the original bytes at every site. Threads inside a stub leave it by themselves. */
  restore(tid: number, space: PatchedMemory): void {
    for (const { address, byte } of [...space.sites])
      if (readByte(tid, address) === INT3) native().store(tid, BigInt(address), Uint8Array.of(byte));
  }

  /** Every address space, with one of its threads. */
  *spaces(): IterableIterator<[tid: number, space: PatchedMemory]> {
    const seen = new Set<PatchedMemory>();
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

  /** Another program, in a new address space. */
  execed(tid: number): PatchedMemory {
    const space = new PatchedMemory();
    this.#spaces.set(tid, space);
    return space;
  }

  exited(tid: number): void {
    this.#spaces.get(tid)?.frames.exited(tid);
    this.#spaces.delete(tid);
  }

  // ---------------------------------------------------------------- placing

  /** Returns the addresses that failed. */
  place(
    tid: number,
    space: PatchedMemory,
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

  /** The same, with one owner for each address. */
  placeEach(
    tid: number,
    space: PatchedMemory,
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

  /** Restores the original code where no other owner is left. */
  remove(tid: number, space: PatchedMemory, addresses: Iterable<number>, owner: SiteOwner): void {
    const gone: Site[] = [];
    for (const address of addresses) {
      const site = space.site(address);
      if (!site?.owners.some((one) => one.owner === owner)) continue;
      const owners = site.owners.filter((one) => one.owner !== owner);
      if (owners.length > 0) space.set({ ...site, owners });
      else {
        space.delete(address);
        if (readByte(tid, address) === INT3) gone.push(site);
      }
    }
    patch(tid, gone, ({ byte }) => byte);
  }

  /** The memory in [from, to) was replaced, and our sites there are gone. Returns their addresses. */
  forget(space: PatchedMemory, from: number, to: number): number[] {
    const gone = space.within(from, to).map(({ address }) => address);
    for (const address of gone) space.delete(address);
    return gone;
  }

  /** Memory in [from, to) was made executable again: drops sites that were overwritten meanwhile. */
  check(tid: number, space: PatchedMemory, from: number, to: number): void {
    for (const { address } of space.within(from, to))
      if (readByte(tid, address) !== INT3) space.delete(address);
  }

  // ---------------------------------------------------------------- hits

  /**
   * A signal is about to be delivered to the program. Returns 0 when the answer is in the buffer, or how long
   * to hold the thread.
   */
  signal(): number {
    const { tid, nr, peer: code, time } = this.#stop;
    const { registers } = this.#hit;
    const space = this.spaceOf(tid);
    const hit = this.#begin(tid, space, registers.get(REGISTER.rip), time);
    if (nr === SIGTRAP && code === SI_KERNEL) {
      const address = hit.address - 1;
      const site = space.site(address);
      if (site) return this.#atSite(site, tid, space, time);
      if (space.removed.has(address) && readByte(tid, address) !== INT3) {
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

  #begin(tid: number, space: PatchedMemory, address: number, time: number): SiteHit {
    const hit = this.#hit;
    hit.tid = tid;
    hit.space = space;
    hit.address = address;
    hit.time = time;
    hit.handled = hit.killed = false;
    hit.signal = 0;
    return hit;
  }

  #atSite(site: Site, tid: number, space: PatchedMemory, time: number): number {
    const hit = this.#begin(tid, space, site.address, time);
    hit.registers.set(REGISTER.rip, site.address);
    for (const { owner, once } of site.owners) {
      if (once) this.#spend(tid, space, site.address, owner);
      const held = owner.hit(hit);
      if (held > 0) {
        this.#answer.begin(ANSWER.hold);
        return held;
      }
      if (hit.handled) break;
    }
    this.#pass(hit);
    return 0;
  }

  /**
   * Continues at the instruction, wherever it is now: an owner may have removed the site, or placed another
   * one at its address.
   */
  #pass(hit: SiteHit): void {
    const resume = hit.space.site(hit.address)?.resume ?? 0;
    if (!hit.handled && resume !== 0) hit.registers.set(REGISTER.rip, resume);
    if (hit.space.trapAction) restoreTrapAction(hit.tid, hit.space);
    this.#goOn();
  }

  #spend(tid: number, space: PatchedMemory, address: number, owner: SiteOwner): void {
    this.remove(tid, space, [address], owner);
  }

  #goOn(): void {
    if (this.#hit.killed) this.#answer.begin(ANSWER.kill);
    else this.#answer.begin(ANSWER.continue, ANSWER_FLAG.registers).result(0).signal(this.#hit.signal);
  }

  /** Shows a thread that faulted in a stub at the original instruction. */
  #backInPlace(space: PatchedMemory): boolean {
    const { registers } = this.#hit;
    const rip = registers.get(REGISTER.rip);
    const address = space.pools.map((pool) => pool.siteOf(rip)).find((found) => found !== undefined);
    if (address === undefined) return false;
    registers.set(REGISTER.rip, address);
    return true;
  }

  /** Keeps a hit that will be held: its registers are needed when the hold ends. */
  take(hit: SiteHit): TakenSiteHit {
    const { address, space } = hit;
    return { address, space, event: Uint8Array.from(this.#stop.bytes.subarray(0, ANSWER_OFFSET)) };
  }

  /** The hold has ended: restores the hit, and `decide` may change it. The answer is in the buffer. */
  release(taken: TakenSiteHit, decide: (hit: SiteHit) => void): void {
    this.#stop.bytes.set(taken.event);
    decide(this.#begin(this.#stop.tid, taken.space, taken.address, this.#stop.time));
    this.#pass(this.#hit);
  }
}

const IN_PLACE = { resume: 0, done: 0 };

/** Stubs created together are adjacent, and written at once. */
class Batch {
  readonly #tid: number;
  readonly #space: PatchedMemory;
  #pool: StubPool | undefined;
  #from = 0;
  #parts: { at: number; bytes: Uint8Array }[] = [];
  #failed = 0;

  constructor(tid: number, space: PatchedMemory) {
    this.#tid = tid;
    this.#space = space;
  }

  stub(code: Uint8Array, address: number): { resume: number; done: number } | undefined {
    const pool = this.#poolFor(address);
    if (!pool) return undefined;
    const at = pool.next;
    const stub = makeInstructionStub(code, address, at);
    if (!stub) return undefined;
    if ("skip" in stub) return { resume: address + stub.skip, done: 0 };
    pool.take(address);
    this.#parts.push({ at, bytes: stub.bytes });
    return { resume: at, done: at + stub.done };
  }

  #poolFor(address: number): StubPool | undefined {
    if (this.#pool?.serves(address)) return this.#pool;
    if (this.write() < 0) return undefined;
    this.#pool = poolNear(this.#tid, this.#space, address);
    this.#from = this.#pool?.next ?? 0;
    return this.#pool;
  }

  /** Returns 0, or -errno: then use none of them. */
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

/** Memory for stubs within reach of an address; created on first use. */
export function poolNear(tid: number, space: PatchedMemory, address: number): StubPool | undefined {
  const known = space.pools.find((pool) => pool.serves(address));
  if (known) return known;
  if (space.gadget === 0) space.gadget = findSyscall(tid) ?? 0;
  if (space.gadget === 0) return undefined;
  const made = makeStubPool(tid, space.gadget, address);
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
