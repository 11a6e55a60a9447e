import { CallReader, Cut, type CValue, type Prototype } from "../../binary/prototypes/index.js";
import { REGISTER } from "../../kernel/binding/layout.js";
import { native } from "../../kernel/binding/native.js";
import type { RegisterFile } from "../../kernel/binding/registers.js";
import type { Stop } from "../../kernel/binding/stop.js";
import { readString } from "../../kernel/decode/memory.js";
import type { ProcessLookup } from "../../kernel/decode/reach-path.js";
import { StoppedThread } from "../../kernel/decode/stopped-thread.js";
import type { Modules } from "../../kernel/process/modules.js";
import type { CodePlace, FunctionReturnEvent } from "../../nouns/event.js";
import { decodeText } from "../../nouns/text.js";
import { moduleName } from "../../policy/function-pattern.js";
import { readWord } from "./read-code.js";

/** System V ABI: the registers of the first six integer and pointer arguments. */
export const ARGUMENT_REGISTERS = [
  REGISTER.rdi,
  REGISTER.rsi,
  REGISTER.rdx,
  REGISTER.rcx,
  REGISTER.r8,
  REGISTER.r9,
] as const;
const LONGEST_TEXT = 64 * 1024;
const MOST_ARGUMENTS = 64;
const FLOATS_SIZE = 512;
export const FIRST_XMM = 160;
export const XMM_SIZE = 16;

/** What is known of a function, independent of the process. */
export interface FunctionDescription {
  readonly name: string;
  readonly module: string;
  readonly symbol: string | undefined;
  readonly prototype: Prototype | undefined;
  readonly isObserved: boolean;
}

/** A call, kept for its return. */
export interface MadeCall {
  readonly registers: RegisterFile;
  readonly floats: Uint8Array | undefined;
  readonly time: number;
}

/** Further context of an event. */
export interface FunctionScene {
  readonly stop: Stop;
  readonly processes: ProcessLookup;
  readonly registers: RegisterFile;
  modules(tid: number): Modules;
}

/** A function call or, with `made`, its return. */
export class CalledFunction extends StoppedThread implements FunctionReturnEvent {
  readonly #scene: FunctionScene;
  #generation: number;
  readonly facts: FunctionDescription;
  readonly #address: number;
  readonly #made: MadeCall | undefined;
  /** The stack address of its return address. */
  readonly stackPointer: number;
  #floats: Uint8Array | undefined;
  #args: Readonly<Record<string, unknown>> | undefined;

  constructor(scene: FunctionScene, facts: FunctionDescription, address: number, made?: MadeCall) {
    super(scene.processes);
    this.#scene = scene;
    this.#generation = scene.stop.generation;
    this.facts = facts;
    this.#address = address;
    this.#made = made;
    this.stackPointer = (made?.registers ?? scene.registers).get(REGISTER.rsp);
  }

  /** Record it regardless of the decision. */
  get isObserved(): boolean {
    return this.facts.isObserved;
  }

  override get stop(): Stop {
    if (this.#scene.stop.generation !== this.#generation)
      throw new Error("this event has been answered: copy what you need while you decide");
    return this.#scene.stop;
  }

  /** The event was held, and its thread is now stopped again in the same state. */
  revive(): void {
    this.#generation = this.#scene.stop.generation;
  }

  /** Its registers are those before the first instruction, or after the last. */
  protected override get isExact(): boolean {
    return true;
  }

  get kind(): "function-return" {
    return (this.#made ? "function-return" : "function") as "function-return";
  }
  get name(): string {
    return this.facts.name;
  }
  get module(): string {
    return this.facts.module;
  }
  get symbol(): string | undefined {
    return this.facts.symbol;
  }
  get address(): bigint {
    return BigInt(this.#address);
  }
  get tid(): number {
    return this.stop.tid;
  }
  get time(): number {
    return this.stop.time;
  }
  get door(): "trace" {
    return "trace";
  }
  get elapsed(): number {
    return this.#made ? this.time - this.#made.time : 0;
  }

  // ---------------------------------------------------------------- arguments

  get #called(): RegisterFile {
    void this.stop;
    return this.#made?.registers ?? this.#scene.registers;
  }

  argument(i: number): bigint {
    if (!Number.isInteger(i) || i < 0 || i >= MOST_ARGUMENTS)
      throw new RangeError(`there is no argument ${i}: they are counted from 0`);
    const register = ARGUMENT_REGISTERS[i];
    if (register !== undefined) return this.#called.exact(register);
    return this.#stackWord(i - ARGUMENT_REGISTERS.length);
  }

  #stackWord(i: number): bigint {
    const at = this.stackPointer + 8 * (i + 1);
    return this.snapshot.exactly(BigInt(at), 8)?.readBigUInt64LE() ?? 0n;
  }

  float(i: number): number {
    if (!Number.isInteger(i) || i < 0 || i > 7) throw new RangeError("floating point arguments are 0 to 7");
    const floats = this.#made ? this.#made.floats : this.#currentFloats();
    return floats ? doubleAt(floats, i) : Number.NaN;
  }

  string(i: number): string | undefined {
    return readString(this.snapshot, this.argument(i), LONGEST_TEXT);
  }

  get args(): Readonly<Record<string, unknown>> {
    this.#args ??= this.#read();
    return this.#args;
  }

  #read(): Readonly<Record<string, unknown>> {
    const reader = this.reader;
    if (!reader) return Object.fromEntries(ARGUMENT_REGISTERS.map((_, i) => [i, this.argument(i)] as const));
    return Object.fromEntries(
      reader.prototype.parameters.map(({ name }, i) => [name || String(i), plain(reader.argument(i))]),
    );
  }

  /** Decodes arguments and result by the prototype, where one is known. */
  get reader(): CallReader | undefined {
    return this.readCall(LONGEST_TEXT);
  }

  /** The same, with at most `limit` bytes of each text. */
  readCall(limit: number): CallReader | undefined {
    const { prototype } = this.facts;
    if (!prototype) return undefined;
    const frame = {
      word: (i: number) => this.argument(i),
      vector: (i: number) => vectorAt(this.#made ? this.#made.floats : this.#currentFloats(), i),
      read: (address: bigint, length: number) => this.snapshot.read(address, length),
    };
    return new CallReader(prototype, frame, limit, this.#made && this.#result());
  }

  #result() {
    const { registers } = this.#scene;
    const kind = this.facts.prototype?.result.type.kind;
    const floats = kind === "float" || kind === "struct" ? this.#currentFloats() : undefined;
    return {
      words: [registers.exact(REGISTER.rax), registers.exact(REGISTER.rdx)] as const,
      vectors: [vectorAt(floats, 0), vectorAt(floats, 1)] as const,
    };
  }

  #currentFloats(): Uint8Array {
    this.#floats ??= floatsOf(this.tid);
    return this.#floats;
  }

  // ---------------------------------------------------------------- its return

  get result(): number {
    void this.stop;
    return this.#scene.registers.signed(REGISTER.rax);
  }
  get resultExact(): bigint {
    void this.stop;
    return this.#scene.registers.exact(REGISTER.rax);
  }
  get resultFloat(): number {
    return doubleAt(this.#currentFloats(), 0);
  }
  resultString(): string | undefined {
    return readString(this.snapshot, this.resultExact, LONGEST_TEXT);
  }
  get value(): unknown {
    const { reader } = this;
    return reader && this.#made ? plain(reader.result()) : undefined;
  }

  // ---------------------------------------------------------------- who called it

  get caller(): CodePlace {
    const address = readWord(this.tid, this.stackPointer) ?? 0;
    const module = this.#scene.modules(this.tid).at(address);
    const bias = module?.bias;
    const inFile = bias === undefined ? undefined : address - bias;
    return {
      address: BigInt(address),
      module: module && moduleName(module.path),
      offset: inFile,
      // The call instruction ends before the return address.
      symbol: inFile === undefined ? undefined : module?.elf()?.symbols.at(inFile - 1)?.name,
    };
  }
}

/** struct user_fpregs_struct of a stopped thread. */
export function floatsOf(tid: number): Uint8Array {
  const floats = new Uint8Array(FLOATS_SIZE);
  native().floats(tid, floats);
  return floats;
}

function doubleAt(floats: Uint8Array, i: number): number {
  return new DataView(floats.buffer, floats.byteOffset).getFloat64(FIRST_XMM + i * XMM_SIZE, true);
}

function vectorAt(floats: Uint8Array | undefined, i: number): bigint {
  if (!floats) return 0n;
  return new DataView(floats.buffer, floats.byteOffset).getBigUint64(FIRST_XMM + i * XMM_SIZE, true);
}

/** Cut texts are shown as far as they were read. */
function plain(value: CValue): unknown {
  if (!(value instanceof Cut)) return value;
  return value.isText ? decodeText(value.start) : value.start;
}
