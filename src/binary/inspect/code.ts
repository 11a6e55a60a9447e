import type { Decoder, Instruction } from "iced-x86";
import { iced } from "../code/iced.js";
import { type Elf, PF_X, SHF_ALLOC, SHF_EXECINSTR, SHT_NOBITS } from "../elf/index.js";

/** Where an instruction leads. */
export const Flow = {
  NEXT: 0,
  /** To `target`, always. */
  JUMP: 1,
  /** To `target`, or on. */
  BRANCH: 2,
  /** To wherever a register or memory says. */
  INDIRECT: 3,
  RETURN: 4,
  /** To `target` and back. */
  CALL: 5,
  CALL_INDIRECT: 6,
  SYSCALL: 7,
  /** Nowhere: a trap, or no instruction at all. */
  STOP: 8,
} as const;
export type Flow = (typeof Flow)[keyof typeof Flow];

/** A stretch of machine code. */
interface Region {
  readonly name: string;
  readonly address: number;
  readonly size: number;
  readonly bytes: Uint8Array;
}

/** More machine code than any program has. */
const MOST_CODE = 1 << 30;
const MOST_REGIONS = 256;

/** The machine code of a file, decoded one instruction after the other from wherever one begins. */
export class MachineCode {
  readonly regions: readonly Region[];
  readonly instruction: Instruction = new (iced().Instruction)();
  readonly #flows = flowsByControl();
  readonly #decoders = new Map<Region, Decoder>();
  #decoder: Decoder | undefined;
  #region: Region | undefined;
  #at = 0;

  /** Of the instruction that was decoded last. */
  address = 0;
  length = 0;
  flow: Flow = Flow.STOP;
  target = 0;
  /** The place that an indirect jump or call takes its target from, when the instruction names it; else 0. */
  slot = 0;

  constructor(elf: Elf) {
    this.regions = regionsOf(elf);
  }

  free(): void {
    for (const decoder of this.#decoders.values()) decoder.free();
    this.#decoders.clear();
    this.instruction.free();
  }

  regionAt(address: number): Region | undefined {
    const now = this.#region;
    if (now !== undefined && address >= now.address && address < now.address + now.size) return now;
    return this.regions.find((region) => address >= region.address && address < region.address + region.size);
  }

  /** Goes on from an address; false when there is no code. */
  seek(address: number): boolean {
    const region = this.regionAt(address);
    if (region === undefined) return false;
    if (region !== this.#region) {
      this.#region = region;
      this.#decoder =
        this.#decoders.get(region) ?? new (iced().Decoder)(64, region.bytes, iced().DecoderOptions.None);
      this.#decoders.set(region, this.#decoder);
    }
    this.#at = address - region.address;
    this.#decoder!.position = this.#at;
    this.#decoder!.ip = BigInt(address);
    return true;
  }

  /** Decodes the next instruction; false at the end of the code. */
  next(): boolean {
    const region = this.#region;
    const decoder = this.#decoder;
    if (region === undefined || decoder === undefined || this.#at >= region.size) return false;
    decoder.decodeOut(this.instruction);
    const from = this.#at;
    this.#at = decoder.position;
    this.address = region.address + from;
    this.length = this.#at - from;
    this.flow = this.#flows[this.instruction.flowControl]!;
    if (this.flow !== Flow.NEXT) this.#look(region.bytes, from);
    return true;
  }

  /** Targets are read from the bytes: numbers, where the decoder has bigints. */
  #look(bytes: Uint8Array, from: number): void {
    let at = from;
    while (isPrefix(bytes[at]!)) at++;
    const first = bytes[at]!;
    const end = from + this.length;
    this.slot = 0;
    if (this.flow === Flow.INDIRECT || this.flow === Flow.CALL_INDIRECT) {
      if ((bytes[at + 1]! & 0xc7) === 0x05) this.slot = this.address + this.length + wide(bytes, end);
    } else if (first === 0xe8 || first === 0xe9 || (first === 0x0f && (bytes[at + 1]! & 0xf0) === 0x80))
      this.target = this.address + this.length + wide(bytes, end);
    else if (first === 0xeb || (first & 0xf0) === 0x70 || (first & 0xfc) === 0xe0)
      this.target = this.address + this.length + ((bytes[end - 1]! << 24) >> 24);
    else if (this.flow === Flow.CALL)
      this.flow =
        first === 0x0f && (bytes[at + 1] === 0x05 || bytes[at + 1] === 0x34) ? Flow.SYSCALL : Flow.NEXT;
    else if (first === 0xcd) this.flow = bytes[at + 1] === 0x80 ? Flow.SYSCALL : Flow.NEXT;
    else if (this.flow === Flow.BRANCH || this.flow === Flow.JUMP) this.flow = Flow.NEXT; // xbegin
  }
}

/** What the decoder calls them, in our words. */
function flowsByControl(): readonly Flow[] {
  const { FlowControl } = iced();
  const flows: Flow[] = [];
  flows[FlowControl.Next] = Flow.NEXT;
  flows[FlowControl.UnconditionalBranch] = Flow.JUMP;
  flows[FlowControl.IndirectBranch] = Flow.INDIRECT;
  flows[FlowControl.ConditionalBranch] = Flow.BRANCH;
  flows[FlowControl.Return] = Flow.RETURN;
  flows[FlowControl.Call] = Flow.CALL;
  flows[FlowControl.IndirectCall] = Flow.CALL_INDIRECT;
  flows[FlowControl.Interrupt] = Flow.STOP;
  flows[FlowControl.XbeginXabortXend] = Flow.NEXT;
  flows[FlowControl.Exception] = Flow.STOP;
  return flows;
}

function isPrefix(byte: number): boolean {
  return (
    (byte & 0xf0) === 0x40 ||
    byte === 0xf2 ||
    byte === 0xf3 ||
    byte === 0x66 ||
    byte === 0x2e ||
    byte === 0x3e
  );
}

const wide = (bytes: Uint8Array, end: number) =>
  bytes[end - 4]! | (bytes[end - 3]! << 8) | (bytes[end - 2]! << 16) | (bytes[end - 1]! << 24);

/** Sections of code; without section headers, what is mapped to be run. */
function regionsOf(elf: Elf): Region[] {
  const sections = elf.sections.filter(
    ({ flags, type }) => (flags & SHF_EXECINSTR) !== 0 && (flags & SHF_ALLOC) !== 0 && type !== SHT_NOBITS,
  );
  const parts: { name: string; address: number; offset: number; length: number }[] =
    sections.length > 0 || elf.type === "relocatable"
      ? sections.map(({ name, address, offset, size }) => ({ name, address, offset, length: size }))
      : elf.segments
          .filter(({ type, flags }) => type === "load" && (flags & PF_X) !== 0)
          .map(({ address, offset, fileSize }) => ({ name: "", address, offset, length: fileSize }));
  // No two pieces of code at one address, and no more than a program could have.
  let left = MOST_CODE;
  const regions: Region[] = [];
  let end = 0;
  for (const { name, address, offset, length } of parts.sort((a, b) => a.address - b.address)) {
    if (length === 0 || address < end || regions.length >= MOST_REGIONS || length > left) continue;
    const bytes = elf.raw(offset, length);
    left -= length;
    end = address + length;
    if (bytes.length > 0) regions.push({ name, address, size: bytes.length, bytes });
  }
  return regions;
}
