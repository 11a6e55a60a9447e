import { syscallByNumber } from "../abi/index.js";
import { DecodedCall } from "../decode/call.js";
import { findSyscall, placesNear } from "../instrument/pool.js";
import type { Hit, SiteOwner, Sites } from "../instrument/sites.js";
import type { Space } from "../instrument/space.js";
import { targetsOf } from "../instrument/targets.js";
import type { Watcher } from "../instrument/watcher.js";
import { BUFFER_SIZE, EVENT_FIELD, KIND, REGISTER } from "../kernel/layout.js";
import { native } from "../kernel/native.js";
import { Stop } from "../kernel/stop.js";
import { type FunctionPattern, matchesModule, moduleName } from "../policy/function-pattern.js";
import { readMaps } from "../process/maps.js";
import type { Module } from "../process/modules.js";
import type { ProcessTable } from "../process/table.js";
import type { Hands } from "../ring/image.js";
import type { OpenCall } from "../ring/open-calls.js";
import type { RingFunction, WantedFunction } from "../ring/patcher.js";
import type { Ring, RingSink } from "../ring/ring.js";
import type { Summary } from "../summary.js";
import type { Recorder } from "../trace/recorder.js";

const SIGTRAP = 5;
const MMAP = 9;
const READ_EXECUTE = 5;
const PRIVATE_THERE = 0x10_0022; // MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE
const PAGE = 4096;

/** What the ring needs done to a stopped thread, by the same means that sites have. */
export function handsOf(sites: Sites): Hands {
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

/** The functions of a module that these patterns name; `except` those. */
export function wantedFunctions(
  module: Module,
  patterns: readonly FunctionPattern[],
  except: readonly FunctionPattern[],
): WantedFunction[] {
  const elf = module.elf();
  const named = (list: readonly FunctionPattern[]) =>
    elf
      ? list
          .filter((one) => matchesModule(one, module.path, module.isMain))
          .flatMap((one) => targetsOf(elf, one))
      : [];
  const left = new Set(named(except).map(({ address }) => address));
  const wanted = new Map<number, WantedFunction>();
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

/** Makes records of what the ring tells, for the trace, and counts. */
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
    this.#summary.countUnasked(nr);
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

/** A function that cannot have a jump in its place: it has a site, as when a policy decides on it. */
class SlowFunction implements SiteOwner {
  readonly #values = new Uint32Array(12);

  constructor(
    readonly called: RingFunction,
    readonly ring: Ring,
  ) {}

  hit({ tid, time, registers }: Hit): number {
    const words = new Uint32Array(registers.bytes.buffer, registers.bytes.byteOffset);
    ARGUMENTS.forEach((register, i) => {
      this.#values[2 * i] = words[2 * register]!;
      this.#values[2 * i + 1] = words[2 * register + 1]!;
    });
    this.ring.stopped(tid, time, this.called, this.#values);
    return 0;
  }
}

/** The ring as one who looks into programs. */
export function ringWatcher(ring: Ring, sites: Sites): Watcher {
  // A thread whose lane is full waits with an int3 in its stub.
  sites.watch(SIGTRAP, (hit) => {
    const on = ring.full(hit.tid, hit.registers.get(REGISTER.rip) - 1);
    if (on === undefined) return false;
    hit.registers.set(REGISTER.rip, on);
    return true;
  });
  const mapped = (tid: number, space: Space, module: Module) => {
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
