import { errnoName, syscallByNumber } from "../../abi/index.js";
import { callNumbers } from "../../abi/named.js";
import { HermesError } from "../../nouns/errors.js";
import type { ProcessInfo } from "../../nouns/event.js";
import {
  type CallStack,
  type MemoryMap,
  type ProgramMemory,
  REGISTER_NAMES,
  type RegisterName,
  type Registers,
} from "../../nouns/inside.js";
import { DOOR, KIND } from "../binding/layout.js";
import type { Stop } from "../binding/stop.js";
import { programMemory } from "./program-memory.js";
import type { ProcessLookup } from "./reach-path.js";
import { Snapshot } from "./snapshot.js";

/** Calls that do not return to the instruction after them. */
const RETURN_ELSEWHERE: ReadonlySet<number> = new Set(callNumbers("execve execveat rt_sigreturn"));

/** What every event offers of its stopped thread. */
export abstract class StoppedThread {
  protected readonly processes: ProcessLookup;
  #snapshot: Snapshot | undefined;
  /** Counts reads of the program's memory, so that the stack of policies knows which policy read it. */
  looks = 0;
  /** A policy, a record or a question has read bytes of the program beyond paths and addresses. */
  readsBytes = false;

  constructor(processes: ProcessLookup) {
    this.processes = processes;
  }

  /** The raw stop, until the event is answered. */
  abstract get stop(): Stop;

  get process(): ProcessInfo {
    return this.processes.get(this.stop.tid);
  }

  get memory(): ProgramMemory {
    return programMemory(
      () => this.stop.tid,
      () => {
        this.readsBytes = true;
        return this.snapshot;
      },
    );
  }

  /** The program memory that this event has read. All further reads go through it. */
  get snapshot(): Snapshot {
    this.looks++;
    this.#snapshot ??= this.takeSnapshot();
    return this.#snapshot;
  }

  /** … undefined if nothing was read beyond the memory fetched at the stop. */
  get takenSnapshot(): Snapshot | undefined {
    return this.#snapshot;
  }

  protected takeSnapshot(): Snapshot {
    return new Snapshot(this.stop.tid);
  }

  registers(): Registers {
    requireTraceDoor(this.stop, "registers()");
    const registers: Partial<Record<RegisterName, bigint>> = {};
    for (const [i, name] of REGISTER_NAMES.entries()) registers[name] = this.stop.registers[i]!;
    return registers as Registers;
  }

  stack(limit?: number): CallStack {
    const { stop } = this;
    requireTraceDoor(stop, "stack()");
    return this.processes.stacks.of(stop.tid, this.process.pid, stop.registerHalves, this.isExact, limit);
  }

  /** True when the thread is at its next instruction. False inside a system call, the instruction before. */
  protected get isExact(): boolean {
    return this.stop.kind === KIND.return && RETURN_ELSEWHERE.has(this.stop.nr);
  }

  maps(): readonly MemoryMap[] {
    return this.process.maps;
  }
}

/** A stopped call's registers, undecoded. */
export abstract class StoppedCall extends StoppedThread {
  get tid(): number {
    return this.stop.tid;
  }
  get time(): number {
    return this.stop.time;
  }
  get door(): "notify" | "trace" {
    return this.stop.door === DOOR.notify ? "notify" : "trace";
  }
  argument(i: number): bigint {
    return this.stop.exact(i);
  }
  get result(): number {
    return this.stop.result;
  }
  get errno(): string | undefined {
    const { result } = this;
    return this.stop.kind === KIND.return && result < 0 && result >= -4095 ? errnoName(-result) : undefined;
  }
  get resultExact(): bigint {
    return this.stop.resultExact;
  }
}

/** A notification has no registers. */
function requireTraceDoor(stop: Stop, what: string): void {
  if (stop.door === DOOR.trace) return;
  const event = syscallByNumber(stop.nr)?.name ?? String(stop.nr);
  throw new HermesError("WRONG_DOOR", { what, event, door: "notify" });
}
