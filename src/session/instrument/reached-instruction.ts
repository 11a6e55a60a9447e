import { REGISTER } from "../../kernel/binding/layout.js";
import { native } from "../../kernel/binding/native.js";
import type { RegisterFile } from "../../kernel/binding/registers.js";
import type { Stop } from "../../kernel/binding/stop.js";
import type { ProcessLookup } from "../../kernel/decode/reach-path.js";
import { StoppedThread } from "../../kernel/decode/stopped-thread.js";
import type { CpuidResult, InstructionEvent } from "../../nouns/event.js";
import type { PatternSite } from "./pattern-sites.js";

export interface ReachedScene {
  readonly stop: Stop;
  readonly processes: ProcessLookup;
  readonly registers: RegisterFile;
}

/** An instruction that a thread is about to execute, at a site. */
export class ReachedInstruction extends StoppedThread implements InstructionEvent {
  readonly kind = "instruction";
  readonly door = "trace";
  readonly elapsed = 0;
  readonly value = undefined;
  readonly name: string;
  readonly module: string;
  readonly address: bigint;
  readonly tid: number;
  readonly time: number;
  readonly site: PatternSite;
  readonly leaf: number | undefined;
  readonly subleaf: number | undefined;
  readonly #stop: Stop;
  #generation: number;
  #cpuid: CpuidResult | undefined;

  constructor({ stop, processes, registers }: ReachedScene, site: PatternSite, address: number) {
    super(processes);
    this.#stop = stop;
    this.#generation = stop.generation;
    this.site = site;
    this.name = site.name;
    this.module = site.module;
    this.address = BigInt(address);
    this.tid = stop.tid;
    this.time = stop.time;
    const isCpuid = site.match.text === "cpuid";
    this.leaf = isCpuid ? low(registers, REGISTER.rax) : undefined;
    this.subleaf = isCpuid ? low(registers, REGISTER.rcx) : undefined;
  }

  override get stop(): Stop {
    if (this.#stop.generation !== this.#generation)
      throw new Error("this event has been answered: copy what you need while you decide");
    return this.#stop;
  }

  /** The event was held, and its thread is now stopped again in the same state. */
  revive(): void {
    this.#generation = this.#stop.generation;
  }

  protected override get isExact(): boolean {
    return true;
  }

  get cpuid(): CpuidResult | undefined {
    if (this.leaf === undefined) return undefined;
    this.#cpuid ??= askProcessor(this.leaf, this.subleaf!);
    return this.#cpuid;
  }
}

function low(registers: RegisterFile, i: number): number {
  return registers.get(i) % 2 ** 32;
}

function askProcessor(leaf: number, subleaf: number): CpuidResult {
  const bytes = Buffer.alloc(16);
  native().cpuid(leaf, subleaf, bytes);
  const [eax = 0, ebx = 0, ecx = 0, edx = 0] = [0, 4, 8, 12].map((at) => bytes.readUInt32LE(at));
  return { eax, ebx, ecx, edx };
}
