import { syscallByNumber } from "../abi/index.js";
import { callNumber, flagsValue, signalValue } from "../abi/named.js";
import { BUFFER_SIZE, EVENT_FIELD, KIND, REGISTER } from "../kernel/binding/layout.js";
import { native } from "../kernel/binding/native.js";
import { Stop } from "../kernel/binding/stop.js";
import { DecodedCall } from "../kernel/decode/call.js";
import { readMaps } from "../kernel/process/maps.js";
import type { Module } from "../kernel/process/modules.js";
import type { ProcessTable } from "../kernel/process/process-table.js";
import { type FunctionPattern, matchesModule, moduleName } from "../policy/function-pattern.js";
import type { Recorder } from "../record/trace/recorder.js";
import { targetsOf } from "./instrument/function-targets.js";
import type { PatchedMemory } from "./instrument/patched-memory.js";
import type { SiteHit, SiteOwner, Sites } from "./instrument/sites.js";
import { findSyscall, placesNear } from "./instrument/stub-pool.js";
import type { Watcher } from "./instrument/watcher.js";
import type { TraceeTools } from "./ring/image.js";
import type { OpenCall } from "./ring/open-calls.js";
import type { FunctionToPatch, RingFunction } from "./ring/patcher.js";
import type { Ring, RingSink } from "./ring/ring.js";
import type { Summary } from "./summary.js";

const SIGTRAP = signalValue("SIGTRAP");
const MMAP = callNumber("mmap");
const READ_EXECUTE = flagsValue("mmap_prot", "PROT_READ|PROT_EXEC");
const PRIVATE_THERE = flagsValue("mmap_flags", "MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE");
const PAGE = 4096;

/** The ring's operations on a stopped thread, by means of the sites. */
export function ringTools(sites: Sites): TraceeTools {
  const call = (tid: number, nr: number, ...args: number[]): number => {
    const space = sites.spaceOf(tid);
    if (space.gadget === 0) space.gadget = findSyscall(tid) ?? 0;
    if (space.gadget === 0) return -1;
    const words = new BigInt64Array(7);
    [nr, ...args].forEach((value, i) => {
      words[i] = BigInt(value);
    });
    return native().call(tid, BigInt(space.gadget), new Uint8Array(words.buffer));
  };
  return {
    call,
    store: (tid, address, bytes) => native().store(tid, BigInt(address), bytes),
    patch: (tid, addresses, bytes) =>
      native().patch(tid, new Uint8Array(BigUint64Array.from(addresses, BigInt).buffer), bytes),
    near: (tid, from, to, size) => {
      const room = Math.ceil(size / PAGE) * PAGE;
      const middle = Math.floor((from + to) / 2);
      const place = placesNear(readMaps(tid), middle - (middle % PAGE), room)[0];
      if (place === undefined) return undefined;
      const got = call(tid, MMAP, place, room, READ_EXECUTE, PRIVATE_THERE, -1, 0);
      return got === place ? place : undefined;
    },
  };
}

/** The functions of a module that match these patterns, except those in `except`. */
export function functionsToPatch(
  module: Module,
  patterns: readonly FunctionPattern[],
  except: readonly FunctionPattern[],
): FunctionToPatch[] {
  const elf = module.elf();
  const named = (list: readonly FunctionPattern[]) =>
    elf
      ? list
          .filter((one) => matchesModule(one, module.path, module.isMain))
          .flatMap((one) => targetsOf(elf, one))
      : [];
  const left = new Set(named(except).map(({ address }) => address));
  const wanted = new Map<number, FunctionToPatch>();
  const inFile = moduleName(module.path);
  for (const { address, symbol, chooses } of named(patterns))
    if (!left.has(address))
      wanted.set(address, {
        name: `${inFile}!${symbol ?? `0x${address.toString(16)}`}`,
        module: inFile,
        symbol,
        address,
        ...(chooses && { unfit: "it is chosen when the program runs" }),
      });
  return [...wanted.values()];
}

/** Turns the ring's reports into trace records, and counts them. */
export class RingEvents implements RingSink {
  readonly #memory = new ArrayBuffer(BUFFER_SIZE);
  readonly #words = new Uint32Array(this.#memory);
  readonly #stop = new Stop(this.#memory);
  readonly #processes: ProcessTable;
  readonly #summary: Summary;
  readonly #recorder: Recorder | undefined;

  constructor(processes: ProcessTable, summary: Summary, recorder: Recorder | undefined) {
    this.#processes = processes;
    this.#summary = summary;
    this.#recorder = recorder;
  }

  call(
    tid: number,
    pid: number,
    time: number,
    { nr, values }: OpenCall,
    result: Uint32Array,
    elapsed: number,
  ): void {
    this.#summary.countUndecided(nr);
    const call = syscallByNumber(nr);
    if (!this.#recorder || !call) return;
    const words = this.#words;
    words[EVENT_FIELD.kind / 4] = KIND.return;
    words[EVENT_FIELD.tid / 4] = tid;
    words[EVENT_FIELD.nr / 4] = nr;
    words.set(values, EVENT_FIELD.args / 4);
    words[EVENT_FIELD.result / 4] = result[0]!;
    words[EVENT_FIELD.result / 4 + 1] = result[1]!;
    const event = new DecodedCall(this.#stop, call, this.#processes);
    this.#recorder.observed(event, pid, time, elapsed < 0 ? undefined : elapsed);
  }

  entered(tid: number, pid: number, time: number, { name }: RingFunction, values: Uint32Array): void {
    this.#recorder?.observedFunction(tid, pid, time, name, values);
  }
}

const ARGUMENTS = [REGISTER.rdi, REGISTER.rsi, REGISTER.rdx, REGISTER.rcx, REGISTER.r8];

/**
 * A function whose beginning cannot be replaced by a jump: it has a breakpoint site instead, as if a policy
 * decided on it.
 */
class SlowFunction implements SiteOwner {
  readonly #values = new Uint32Array(12);

  constructor(
    readonly called: RingFunction,
    readonly ring: Ring,
  ) {}

  hit({ tid, time, registers }: SiteHit): number {
    const words = new Uint32Array(registers.bytes.buffer, registers.bytes.byteOffset);
    ARGUMENTS.forEach((register, i) => {
      this.#values[2 * i] = words[2 * register]!;
      this.#values[2 * i + 1] = words[2 * register + 1]!;
    });
    this.ring.stopped(tid, time, this.called, this.#values);
    return 0;
  }
}

/** Connects the ring to the life cycle of programs. */
export function ringFunctionWatcher(ring: Ring, sites: Sites): Watcher {
  // A thread whose lane is full waits at an int3 in its stub.
  sites.watch(SIGTRAP, (hit) => {
    const on = ring.full(hit.tid, hit.registers.get(REGISTER.rip) - 1);
    if (on === undefined) return false;
    hit.registers.set(REGISTER.rip, on);
    return true;
  });
  const mapped = (tid: number, space: PatchedMemory, module: Module) => {
    const { bias } = module;
    if (bias === undefined) return;
    const isTaken = (address: number) => space.site(address + bias) !== undefined;
    for (const each of ring.mapped(tid, module, isTaken))
      if (sites.place(tid, space, [each.address + bias], new SlowFunction(each, ring)).length > 0)
        ring.unseen(each);
  };
  return {
    before: () => ring.drain(),
    started: (tid) => ring.execed(tid),
    mapped,
    born: (tid) => ring.born(tid),
    moved: (from, to) => ring.moved(from, to),
    exited: (tid) => ring.exited(tid),
    called: (tid, ip) => ring.seenAtDoor(tid, ip),
  };
}
