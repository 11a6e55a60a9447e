import { type Instruction, InstructionInfoFactory, OpAccess, OpKind, Register, RegisterExt } from "iced-x86";

/** The 64-bit register that a register is part of. */
export const full = (register: Register): Register =>
  register === Register.None ? Register.None : RegisterExt.fullRegister(register);

export function isImmediate(kind: OpKind): boolean {
  return kind >= OpKind.Immediate8 && kind <= OpKind.Immediate32to64;
}

const WRITES: ReadonlySet<OpAccess> = new Set([
  OpAccess.Write,
  OpAccess.CondWrite,
  OpAccess.ReadWrite,
  OpAccess.ReadCondWrite,
]);

const factory = new InstructionInfoFactory();

/** What an instruction may change: registers (whole ones), and whether flags are among it. */
export function written(instruction: Instruction): { registers: Register[]; flags: boolean } {
  const info = factory.info(instruction);
  const registers: Register[] = [];
  for (const used of info.usedRegisters()) {
    if (WRITES.has(used.access)) registers.push(full(used.register));
    used.free();
  }
  info.free();
  return { registers, flags: instruction.rflagsModified !== 0 };
}
