import type { Instruction } from "iced-x86";
import { iced } from "../../binary/code/iced.js";

/** Enough for five bytes of whole instructions, each at most 15 bytes long. */
export const DISPLACED_MOST = 4 + 15;

/** Whole instructions that a jump replaces. */
export interface Displaced {
  /** The address in the file. */
  readonly address: number;
  readonly length: number;
  readonly bytes: Uint8Array;
  /** They have the same effect at any address. */
  readonly isFixed: boolean;
  /** The last of them jumps away: nothing follows. */
  readonly leaves: boolean;
  /** Which flags they read before they set them, and whether they set all of them. */
  readonly needsFlags: boolean;
  readonly setsFlags: boolean;
}

/** The arithmetic status flags. */
const STATUS_FLAGS = 0x3f;

/**
 * The first whole instructions of `code` that take up at least `least` bytes, or why they cannot be moved. A
 * call is not moved, because it would push an address of our memory on the stack.
 */
export function displace(code: Uint8Array, address: number, least: number): Displaced | string {
  const { Decoder, DecoderOptions, Instruction } = iced();
  const decoder = new Decoder(64, code, DecoderOptions.None);
  const instruction = new Instruction();
  try {
    decoder.ip = BigInt(address);
    let [length, isFixed, leaves, needsFlags, written] = [0, true, false, false, 0];
    while (length < least) {
      if (leaves) return "it is too short for a jump";
      if (!decoder.canDecode) return "its code ends too soon";
      decoder.decodeOut(instruction);
      const kind = kindOf(instruction);
      if (typeof kind === "string") return kind;
      length += instruction.length;
      leaves = kind.leaves;
      isFixed &&= kind.isFixed;
      needsFlags ||= (instruction.rflagsRead & ~written) !== 0;
      written |= instruction.rflagsModified;
    }
    const setsFlags = (written & STATUS_FLAGS) === STATUS_FLAGS;
    return { address, length, bytes: code.slice(0, length), isFixed, leaves, needsFlags, setsFlags };
  } finally {
    instruction.free();
    decoder.free();
  }
}

function kindOf(instruction: Instruction): { leaves: boolean; isFixed: boolean } | string {
  const { FlowControl } = iced();
  if (instruction.isInvalid) return "its code cannot be decoded";
  const fixed = { leaves: false, isFixed: !instruction.isIpRelMemoryOperand };
  switch (instruction.flowControl) {
    case FlowControl.Next:
      return fixed;
    case FlowControl.ConditionalBranch:
      return { leaves: false, isFixed: false };
    case FlowControl.UnconditionalBranch:
      return { leaves: true, isFixed: false };
    case FlowControl.IndirectBranch:
    case FlowControl.Return:
      return { ...fixed, leaves: true };
    default:
      return "it begins with a call";
  }
}

/**
 * The same instructions, which stand at `from` in the program, for another address. Throws when that is too
 * far away.
 */
export function relocated({ bytes, isFixed }: Displaced, from: number, to: number): Uint8Array {
  if (isFixed) return bytes;
  const { BlockEncoder, BlockEncoderOptions, Decoder, DecoderOptions } = iced();
  const decoder = new Decoder(64, bytes, DecoderOptions.None);
  const encoder = new BlockEncoder(64, BlockEncoderOptions.None);
  try {
    decoder.ip = BigInt(from);
    while (decoder.canDecode) encoder.add(decoder.decode());
    return encoder.encode(BigInt(to));
  } finally {
    encoder.free();
    decoder.free();
  }
}
