import type { Stop } from "../../kernel/binding/stop.js";
import type { ProcessLookup } from "../../kernel/decode/reach-path.js";
import { StoppedThread } from "../../kernel/decode/stopped-thread.js";
import type { InstructionEvent } from "../../nouns/event.js";

const NAMES = ["", "rdtsc", "rdtscp"];
const WORD = 32n;

/** An instruction that faulted instead of running. native/doors/instruction.c computes its result. */
export class FaultedInstruction extends StoppedThread implements InstructionEvent {
  readonly kind = "instruction";
  readonly door = "trace";
  readonly elapsed = 0;
  readonly leaf = undefined;
  readonly subleaf = undefined;
  readonly cpuid = undefined;
  readonly name: string;
  readonly tid: number;
  readonly time: number;
  readonly address: bigint;
  readonly value: bigint;
  readonly #stop: Stop;
  readonly #generation: number;

  constructor(stop: Stop, processes: ProcessLookup) {
    super(processes);
    this.#stop = stop;
    this.#generation = stop.generation;
    this.name = NAMES[stop.nr]!;
    this.tid = stop.tid;
    this.time = stop.time;
    this.address = stop.ip;
    this.value = (stop.exact(3) << WORD) | stop.exact(0);
  }

  get stop(): Stop {
    if (this.#stop.generation !== this.#generation)
      throw new Error("this event has been answered: copy what you need while you decide");
    return this.#stop;
  }

  protected override get isExact(): boolean {
    return true;
  }

  get module(): string | undefined {
    return this.stack(1)[0]?.module;
  }
}
