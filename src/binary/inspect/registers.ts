import type { Instruction, InstructionInfoFactory, OpAccess, OpKind, Register } from "iced-x86";
import { iced } from "../code/iced.js";

/** The 64-bit register that a register is part of. */
export function full(register: Register): Register {
  const { Register, RegisterExt } = iced();
  return register === Register.None ? Register.None : RegisterExt.fullRegister(register);
}

export function isImmediate(kind: OpKind): boolean {
  const { OpKind } = iced();
  return kind >= OpKind.Immediate8 && kind <= OpKind.Immediate32to64;
}

let tools: { readonly factory: InstructionInfoFactory; readonly writes: ReadonlySet<OpAccess> } | undefined;

function makeTools() {
  const { InstructionInfoFactory, OpAccess } = iced();
  const { Write, CondWrite, ReadWrite, ReadCondWrite } = OpAccess;
  return {
    factory: new InstructionInfoFactory(),
    writes: new Set([Write, CondWrite, ReadWrite, ReadCondWrite]),
  };
}

/** What an instruction may change: registers (whole ones), and whether flags are among it. */
export function written(instruction: Instruction): { registers: Register[]; flags: boolean } {
  tools ??= makeTools();
  const info = tools.factory.info(instruction);
  const registers: Register[] = [];
  for (const used of info.usedRegisters()) {
    if (tools.writes.has(used.access)) registers.push(full(used.register));
    used.free();
  }
  info.free();
  return { registers, flags: instruction.rflagsModified !== 0 };
}
