import { syscallByNumber } from "../abi/index.js";
import { HermesError } from "../errors.js";
import type { ProcessInfo } from "../event.js";
import {
  type CallStack,
  type MemoryMap,
  type ProgramMemory,
  REGISTER_NAMES,
  type RegisterName,
  type Registers,
} from "../inside.js";
import { DOOR, KIND } from "../kernel/layout.js";
import type { Stop } from "../kernel/stop.js";
import { programMemory } from "./program-memory.js";
import type { Processes } from "./reach.js";
import { Snapshot } from "./snapshot.js";

/** Calls that return to where something else was: execve, execveat, rt_sigreturn. */
const RETURN_ELSEWHERE: ReadonlySet<number> = new Set([59, 322, 15]);

/** What every event offers of the thread that it stopped. */
export abstract class StoppedThread {
  protected readonly processes: Processes;
  #snapshot: Snapshot | undefined;
  /** Counts every look at the program's memory, so that the stack can tell which policy looked. */
  looks = 0;

  constructor(processes: Processes) {
    this.processes = processes;
  }

  /** The raw stop, as long as it is this event's turn. */
  abstract get stop(): Stop;

  get process(): ProcessInfo {
    return this.processes.get(this.stop.tid);
  }

  get memory(): ProgramMemory {
    return programMemory(
      () => this.stop.tid,
      () => this.snapshot,
    );
  }

  /** What this event has read of the program's memory: everything that reads more of it reads through this. */
  get snapshot(): Snapshot {
    this.looks++;
    this.#snapshot ??= this.takeSnapshot();
    return this.#snapshot;
  }

  /** … undefined where nothing was read but what was fetched with the stop. */
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

  /** The next instruction is the one that the thread stands at; it is not inside the one before, a system call. */
  protected get isExact(): boolean {
    return this.stop.kind === KIND.return && RETURN_ELSEWHERE.has(this.stop.nr);
  }

  maps(): readonly MemoryMap[] {
    return this.process.maps;
  }
}

/** A notification has no registers. */
function requireTraceDoor(stop: Stop, what: string): void {
  if (stop.door === DOOR.trace) return;
  const event = syscallByNumber(stop.nr)?.name ?? String(stop.nr);
  throw new HermesError("WRONG_DOOR", { what, event, door: "notify" });
}
