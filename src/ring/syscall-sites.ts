import { iced } from "../code/iced.js";
import { DISPLACED_MOST, type Displaced, displace } from "./displace.js";
import { type CodeBytes, jumpedInto } from "./targets.js";

/** A `syscall` in a module, with what follows it up to where a jump fits. Addresses are those of the file. */
export interface SyscallSite {
  readonly address: number;
  readonly length: number;
  /** What follows the call, and is made in the stub. */
  readonly following: Displaced;
}

const SYSCALL = 2;
const JUMP = 5;

/**
 * The system calls of a module that can be given a jump in their place: proven to be instructions by decoding their
 * function from its start, followed by instructions that can be moved, that nothing else jumps to, and that do not look
 * at the flags from before the call.
 */
export function syscallSites(
  code: CodeBytes,
  functionAt: (address: number) => { from: number; to: number } | undefined,
): SyscallSite[] {
  const found: SyscallSite[] = [];
  for (const offset of pairs(code.bytes)) {
    const address = code.address + offset;
    const range = functionAt(address);
    if (!range || !isBoundary(code, range.from, address)) continue;
    const end = Math.min(offset + SYSCALL + DISPLACED_MOST, range.to - code.address);
    const following = displace(code.bytes.subarray(offset + SYSCALL, end), address + SYSCALL, JUMP - SYSCALL);
    if (typeof following === "string" || !following.isFixed || following.leaves) continue;
    // A stub of ours changes the flags, which the call itself does not.
    if (following.needsFlags || !following.setsFlags) continue;
    found.push({ address, length: SYSCALL + following.length, following });
  }
  const bad = jumpedInto(code, found, functionAt);
  return found.filter(({ address }) => !bad.has(address));
}

/** Where `0f 05` stands, as an instruction or not. */
function* pairs(bytes: Uint8Array): Generator<number> {
  for (let at = bytes.indexOf(0x0f); at >= 0 && at + 1 < bytes.length; at = bytes.indexOf(0x0f, at + 1))
    if (bytes[at + 1] === 0x05) yield at;
}

function isBoundary({ address, bytes }: CodeBytes, from: number, wanted: number): boolean {
  const { Decoder, DecoderOptions, Instruction } = iced();
  const decoding = new Decoder(
    64,
    bytes.subarray(from - address, wanted - address + SYSCALL),
    DecoderOptions.None,
  );
  const instruction = new Instruction();
  try {
    let at = from;
    while (at < wanted && decoding.canDecode) {
      decoding.decodeOut(instruction);
      if (instruction.isInvalid) return false;
      at += instruction.length;
    }
    return at === wanted;
  } finally {
    instruction.free();
    decoding.free();
  }
}
