import { iced } from "../../binary/code/iced.js";
import { DISPLACED_MOST, type Displaced, displace } from "./displace.js";
import { type CodeBytes, jumpedInto } from "./targets.js";

/**
 * A `syscall` in a module, with neighbouring instructions that make room for a jump. Addresses are those of
 * the file. The displaced instructions have the same effect at any address.
 */
export interface PatchableSyscall {
  /** The address of the jump. */
  readonly address: number;
  readonly length: number;
  /** Run before the call, and after it. */
  readonly before: Uint8Array;
  readonly behind: Uint8Array;
}

const SYSCALL = 2;
const JUMP = 5;
/** How far to follow the code to see whether the flags are used. */
const MOST_FOLLOWED = 64;
const NOTHING = new Uint8Array();

type FunctionAt = (address: number) => { from: number; to: number } | undefined;

/**
 * The system calls of a module that a jump can replace. Decoding their function from its start proves that
 * they are instructions. The neighbouring instructions can be moved, and nothing else jumps to them. No later
 * instruction reads the flags from before the call, which the kernel keeps and our stub does not.
 */
export function patchableSyscalls(code: CodeBytes, functionAt: FunctionAt): PatchableSyscall[] {
  const found: PatchableSyscall[] = [];
  for (const offset of pairs(code.bytes)) {
    const address = code.address + offset;
    const range = functionAt(address);
    const previous = range && lengthBefore(code, range.from, address);
    if (previous === undefined) continue;
    const rest = code.bytes.subarray(offset + SYSCALL, range!.to - code.address);
    const behind = displace(rest.subarray(0, DISPLACED_MOST), address + SYSCALL, JUMP - SYSCALL);
    if (isMovable(behind) && !behind.needsFlags && behind.setsFlags)
      found.push({ address, length: SYSCALL + behind.length, before: NOTHING, behind: behind.bytes });
    else if (forgetsFlags(rest)) found.push(...withBefore(code, address, previous));
  }
  const bad = jumpedInto(code, found, functionAt);
  return found.filter(({ address }) => !bad.has(address));
}

function isMovable(code: Displaced | string): code is Displaced {
  return typeof code !== "string" && code.isFixed && !code.leaves;
}

/** `mov $110, %eax; syscall; ret`: the jump replaces the first instruction. */
function withBefore(code: CodeBytes, address: number, previous: number): PatchableSyscall[] {
  const offset = address - previous - code.address;
  const before = displace(code.bytes.subarray(offset, offset + previous), address - previous, 1);
  if (previous + SYSCALL < JUMP || !isMovable(before)) return [];
  const site = { address: before.address, length: previous + SYSCALL, before: before.bytes, behind: NOTHING };
  return before.length === previous ? [site] : [];
}

/** Addresses of the bytes `0f 05`, whether they form an instruction or not. */
function* pairs(bytes: Uint8Array): Generator<number> {
  for (let at = bytes.indexOf(0x0f); at >= 0 && at + 1 < bytes.length; at = bytes.indexOf(0x0f, at + 1))
    if (bytes[at + 1] === 0x05) yield at;
}

/**
 * The length of the instruction before an address: 0 at the function's start, undefined when none ends there.
 */
function lengthBefore({ address, bytes }: CodeBytes, from: number, wanted: number): number | undefined {
  const { Decoder, DecoderOptions, Instruction } = iced();
  const code = bytes.subarray(from - address, wanted - address);
  const decoder = new Decoder(64, code, DecoderOptions.None);
  const instruction = new Instruction();
  try {
    let [at, last] = [from, 0];
    while (at < wanted && decoder.canDecode) {
      decoder.decodeOut(instruction);
      if (instruction.isInvalid) return undefined;
      last = instruction.length;
      at += last;
    }
    return at === wanted ? last : undefined;
  } finally {
    instruction.free();
    decoder.free();
  }
}

/** True when the flags are overwritten, or the function returns, before any instruction reads them. */
function forgetsFlags(code: Uint8Array): boolean {
  const { Decoder, DecoderOptions, FlowControl, Instruction } = iced();
  const decoder = new Decoder(64, code.subarray(0, MOST_FOLLOWED), DecoderOptions.None);
  const instruction = new Instruction();
  try {
    let written = 0;
    while (decoder.canDecode) {
      decoder.decodeOut(instruction);
      const { flowControl, rflagsRead, rflagsModified } = instruction;
      if (flowControl === FlowControl.Return) return true;
      if (flowControl !== FlowControl.Next || (rflagsRead & ~written) !== 0) return false;
      written |= rflagsModified;
      if ((written & STATUS_FLAGS) === STATUS_FLAGS) return true;
    }
    return false;
  } finally {
    instruction.free();
    decoder.free();
  }
}

/** The arithmetic status flags. */
const STATUS_FLAGS = 0x3f;
