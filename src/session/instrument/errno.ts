import type { Instruction } from "iced-x86";
import { iced } from "../../binary/code/iced.js";
import { REGISTER } from "../../kernel/binding/layout.js";
import { native } from "../../kernel/binding/native.js";
import type { ModuleFiles } from "../../kernel/process/module-files.js";
import { modulesOf } from "../../kernel/process/modules.js";
import type { PatchedMemory } from "./patched-memory.js";
import { codeAt } from "./read-code.js";
import type { SiteHit } from "./sites.js";

const MOST_INSTRUCTIONS = 16;
const LONGEST_CODE = 128;

/**
 * Sets errno of a thread. Only the C library knows its address: __errno_location computes it in a few
 * instructions (thread pointer plus offset), which we evaluate symbolically. Returns whether this succeeded.
 */
export function setErrno(hit: SiteHit, errno: number, files: ModuleFiles): boolean {
  const place = placeOfErrno(hit, files);
  if (place === undefined) return false;
  const value = Buffer.alloc(4);
  value.writeInt32LE(errno);
  return native().store(hit.tid, place, value) === 0;
}

/** The thread's errno; undefined when it cannot be found. */
export function readErrno(hit: SiteHit, files: ModuleFiles): number | undefined {
  const place = placeOfErrno(hit, files);
  const value = Buffer.alloc(4);
  return place !== undefined && native().fetch(hit.tid, place, value) === 4 ? value.readInt32LE() : undefined;
}

function placeOfErrno({ tid, space, registers }: SiteHit, files: ModuleFiles): bigint | undefined {
  space.errnoLocation ??= findErrnoLocation(tid, files) ?? 0;
  if (space.errnoLocation === 0) return undefined;
  return follow(tid, space, space.errnoLocation, registers.exact(REGISTER.fs_base));
}

/** glibc and musl use this name. A static program has the symbol itself, unless it is stripped. */
function findErrnoLocation(tid: number, files: ModuleFiles): number | undefined {
  const name = "__errno_location";
  for (const module of modulesOf(tid, files)) {
    const symbols = module.elf()?.symbols;
    const [found] = symbols?.exported(name) ?? [];
    const symbol =
      found ?? (module.isMain ? symbols?.byName(name).find(({ defined }) => defined) : undefined);
    if (symbol && module.bias !== undefined) return module.bias + symbol.address;
  }
  return undefined;
}

/** The return value of a function that only moves and adds to rax; undefined for any other function. */
function follow(tid: number, space: PatchedMemory, address: number, fsBase: bigint): bigint | undefined {
  const code = codeAt(tid, space, address, LONGEST_CODE);
  if (!code) return undefined;
  const { Decoder, DecoderOptions, Mnemonic } = iced();
  const decoder = new Decoder(64, code, DecoderOptions.None);
  decoder.ip = BigInt(address);
  let rax: bigint | undefined = 0n;
  for (let i = 0; i < MOST_INSTRUCTIONS && rax !== undefined; i++) {
    const instruction = decoder.decode();
    const { mnemonic } = instruction;
    const isOver = mnemonic === Mnemonic.Ret;
    if (!isOver && mnemonic !== Mnemonic.Endbr64) rax = step(tid, instruction, rax, fsBase);
    instruction.free();
    if (isOver) break;
  }
  decoder.free();
  return rax;
}

function step(tid: number, instruction: Instruction, rax: bigint, fsBase: bigint): bigint | undefined {
  const { Mnemonic, Register } = iced();
  const { mnemonic } = instruction;
  if (instruction.op0Register !== Register.RAX) return undefined;
  if (mnemonic === Mnemonic.Lea) return addressOf(instruction, rax);
  const operand = operandOf(tid, instruction, rax, fsBase);
  if (operand === undefined) return undefined;
  if (mnemonic === Mnemonic.Mov) return operand;
  if (mnemonic === Mnemonic.Add) return BigInt.asUintN(64, rax + operand);
  return mnemonic === Mnemonic.Sub ? BigInt.asUintN(64, rax - operand) : undefined;
}

function operandOf(tid: number, instruction: Instruction, rax: bigint, fsBase: bigint): bigint | undefined {
  const { OpKind, Register } = iced();
  if (instruction.op1Kind === OpKind.Register) return undefined;
  if (instruction.op1Kind !== OpKind.Memory) return instruction.immediate(1);
  const address = addressOf(instruction, rax);
  if (address === undefined) return undefined;
  const segment = instruction.segmentPrefix === Register.FS ? fsBase : 0n;
  const bytes = Buffer.alloc(8);
  return native().fetch(tid, BigInt.asUintN(64, address + segment), bytes) === 8
    ? bytes.readBigUInt64LE()
    : undefined;
}

function addressOf(instruction: Instruction, rax: bigint): bigint | undefined {
  const { Register } = iced();
  if (instruction.memoryIndex !== Register.None) return undefined;
  if (instruction.isIpRelMemoryOperand) return instruction.ipRelMemoryAddress;
  const { memoryBase, memoryDisplacement } = instruction;
  if (memoryBase !== Register.RAX && memoryBase !== Register.None) return undefined;
  return BigInt.asUintN(64, (memoryBase === Register.RAX ? rax : 0n) + memoryDisplacement);
}
