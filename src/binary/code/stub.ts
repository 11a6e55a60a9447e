import type { Instruction } from "iced-x86";
import { iced } from "./iced.js";

/** No x86 instruction is longer. */
export const LONGEST_INSTRUCTION = 15;
/** More than any stub: a relocated instruction, or a call taken apart, and the jump back. */
export const LONGEST_STUB = 64;

/**
 * How one instruction is executed at another address, so that an int3 can stay at its own.
 * An instruction that does nothing is just passed over: `skip` bytes. Otherwise `bytes` at the place that was asked for
 * do the same and go on behind the original; `done` is where in them the instruction itself is over.
 */
type InstructionStub = { readonly skip: number } | { readonly bytes: Uint8Array; readonly done: number };

/**
 * The stub at `at` for the instruction that `code` (as many bytes as there are, up to 15) begins with and that lies at
 * `address`. Undefined when it cannot be moved: it is no instruction, or one whose place the program would notice.
 */
export function makeInstructionStub(
  code: Uint8Array,
  address: number,
  at: number,
): InstructionStub | undefined {
  const { Decoder, DecoderOptions } = iced();
  const decoder = new Decoder(64, code, DecoderOptions.None);
  decoder.ip = BigInt(address);
  const instruction = decoder.decode();
  try {
    return stubOf(instruction, address, at);
  } catch {
    return undefined; // too far away for its operands
  } finally {
    instruction.free();
    decoder.free();
  }
}

function stubOf(instruction: Instruction, address: number, at: number): InstructionStub | undefined {
  const { Mnemonic, FlowControl } = iced();
  if (instruction.isInvalid) return undefined;
  const { length, mnemonic, flowControl } = instruction;
  const next = address + length;
  if (mnemonic === Mnemonic.Endbr64 || mnemonic === Mnemonic.Nop) return { skip: length };
  if (flowControl === FlowControl.Call && mnemonic === Mnemonic.Call) {
    const target = instruction.nearBranchTarget;
    const bytes = Buffer.concat([pushAddress(next), jumpTo(Number(target))]);
    return { bytes, done: bytes.length };
  }
  if (flowControl === FlowControl.IndirectCall) return indirectCall(instruction, next, at);
  // An int3 of the program's own, int 0x80 and the like: the kernel would report the address of the stub.
  if (flowControl === FlowControl.Interrupt || flowControl === FlowControl.Exception) return undefined;
  const moved = encode(instruction, at);
  return { bytes: Buffer.concat([moved, jumpTo(next)]), done: moved.length };
}

/** A return address that is not the original would be seen by everything that walks the stack. */
function indirectCall(call: Instruction, next: number, at: number): InstructionStub | undefined {
  const { Code, Register, OpKind } = iced();
  if (call.code !== Code.Call_rm64) return undefined;
  const push = pushAddress(next);
  const jump = call.clone();
  try {
    jump.code = Code.Jmp_rm64;
    if (call.op0Kind === OpKind.Register && call.op0Register === Register.RSP) return undefined;
    if (call.op0Kind === OpKind.Memory && call.memoryBase === Register.RSP) {
      jump.memoryDisplacement = BigInt.asUintN(64, call.memoryDisplacement + 8n);
      jump.memoryDisplSize = 4;
    }
    const bytes = Buffer.concat([push, encode(jump, at + push.length)]);
    return { bytes, done: bytes.length };
  } finally {
    jump.free();
  }
}

function encode(instruction: Instruction, at: number): Uint8Array {
  const { BlockEncoder, BlockEncoderOptions } = iced();
  const encoder = new BlockEncoder(64, BlockEncoderOptions.None);
  try {
    encoder.add(instruction);
    return encoder.encode(BigInt(at));
  } finally {
    encoder.free();
  }
}

/** push low half (sign-extended); mov dword [rsp+4], high half. Changes no register and no flag. */
function pushAddress(address: number): Buffer {
  const bytes = Buffer.from([0x68, 0, 0, 0, 0, 0xc7, 0x44, 0x24, 0x04, 0, 0, 0, 0]);
  bytes.writeUInt32LE(address % 2 ** 32, 1);
  bytes.writeUInt32LE(Math.floor(address / 2 ** 32), 9);
  return bytes;
}

/** jmp [rip+0], and the address behind it. */
function jumpTo(address: number): Buffer {
  const bytes = Buffer.from([0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  bytes.writeBigUInt64LE(BigInt(address), 6);
  return bytes;
}
