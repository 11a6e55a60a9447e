import { iced } from "../../binary/code/iced.js";

/** The bytes of a module's code, at their address in the file. */
export interface CodeBytes {
  readonly address: number;
  readonly bytes: Uint8Array;
}

/** Bytes that a jump is to replace: no code may jump into the middle of them. */
interface Guarded {
  readonly address: number;
  readonly length: number;
}

const NEAR = 128;

/**
 * The guarded places that some code jumps into. Long jumps and calls are searched at every byte, in code or
 * not, so that none is missed. Short ones are found by decoding the functions around each place.
 */
export function jumpedInto(
  { address, bytes }: CodeBytes,
  guarded: readonly Guarded[],
  functionAt: (address: number) => { from: number; to: number } | undefined,
): Set<number> {
  if (guarded.length === 0) return new Set();
  const owner = new Map<number, number>();
  const inside = new Uint8Array(bytes.length);
  for (const place of guarded)
    for (let at = place.address + 1; at < place.address + place.length; at++) {
      owner.set(at, place.address);
      inside[at - address] = 1;
    }
  const hit = new Set<number>();
  const mark = (target: number) => {
    const of = owner.get(target);
    if (of !== undefined) hit.add(of);
  };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at + 5 <= bytes.length; at++) {
    const byte = bytes[at]!;
    // call and jmp rel32, and the second byte of jcc rel32
    if ((byte & 0xfe) !== 0xe8 && ((byte & 0xf0) !== 0x80 || bytes[at - 1] !== 0x0f)) continue;
    const target = at + 5 + view.getInt32(at + 1, true);
    if (inside[target] === 1) mark(address + target);
  }
  const decoded = new Set<number>();
  for (const place of guarded)
    for (const near of [place.address, place.address - NEAR, place.address + place.length + NEAR]) {
      const range = functionAt(near);
      if (!range || decoded.has(range.from)) continue;
      decoded.add(range.from);
      for (const target of branches(bytes.subarray(range.from - address, range.to - address), range.from))
        mark(target);
    }
  return hit;
}

/** The branch targets of a function, decoded from its start to its end. */
function branches(code: Uint8Array, address: number): number[] {
  const { Decoder, DecoderOptions, FlowControl, Instruction, OpKind } = iced();
  const decoding = new Decoder(64, code, DecoderOptions.None);
  const instruction = new Instruction();
  const found: number[] = [];
  try {
    decoding.ip = BigInt(address);
    while (decoding.canDecode) {
      decoding.decodeOut(instruction);
      const flow = instruction.flowControl;
      const isBranch =
        flow === FlowControl.ConditionalBranch ||
        flow === FlowControl.UnconditionalBranch ||
        flow === FlowControl.Call;
      if (isBranch && instruction.op0Kind === OpKind.NearBranch64)
        found.push(Number(instruction.nearBranch64));
    }
    return found;
  } finally {
    instruction.free();
    decoding.free();
  }
}
