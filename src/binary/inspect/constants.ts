import type { Instruction, Register } from "iced-x86";
import { iced } from "../code/iced.js";
import type { ControlFlow } from "./cfg.js";
import { Flow, type MachineCode } from "./code.js";
import { full, isImmediate, written } from "./registers.js";

/**
 * What is known of a register: a number; what some register held when the function was entered (−1 − its number); or
 * nothing.
 */
type RegisterConstant = number | undefined;

const entryValue = (register: number): RegisterConstant => -1 - register;
export const entryRegister = (value: RegisterConstant): number | undefined =>
  value !== undefined && value < 0 ? -1 - value : undefined;

const GPRS = 16;

/** The registers at one instruction. */
type Visit = (code: MachineCode, registers: readonly RegisterConstant[]) => void;

/**
 * Follows constants through a function, and shows the registers before every instruction. What ways disagree about is
 * unknown after they meet. Where some jump of the function goes to an unknown place, nothing is known at the beginning of
 * any block.
 */
export function followConstants(code: MachineCode, flow: ControlFlow, visit: Visit): void {
  const states = new Map<number, RegisterConstant[]>();
  const unknown = () => new Array<RegisterConstant>(GPRS).fill(undefined);
  const atEntry = flow.complete ? Array.from({ length: GPRS }, (_, i) => entryValue(i)) : unknown();
  for (const root of flow.roots) states.set(root, root === flow.function.address ? atEntry : unknown());
  const open = flow.complete ? [...flow.roots] : [];
  for (let start = open.pop(); start !== undefined; start = open.pop()) {
    const block = flow.blocks.get(start);
    if (block === undefined) continue;
    const after = run(code, block.start, block.instructions, states.get(start)!);
    for (const { to } of block.edges) {
      const known = states.get(to);
      const met =
        known === undefined ? after : known.map((value, i) => (value === after[i] ? value : undefined));
      if (known !== undefined && met.every((value, i) => value === known[i])) continue;
      states.set(to, [...met]);
      open.push(to);
    }
  }
  for (const { start, instructions } of flow.blocks.values())
    run(code, start, instructions, states.get(start) ?? unknown(), visit);
}

function run(
  code: MachineCode,
  start: number,
  instructions: number,
  before: readonly RegisterConstant[],
  visit?: Visit,
): RegisterConstant[] {
  const { Mnemonic } = iced();
  const registers = [...before];
  /** What was pushed and not yet popped, as long as nothing else touches the stack's pointer. */
  let stack: RegisterConstant[] = [];
  code.seek(start);
  for (let i = 0; i < instructions && code.next(); i++) {
    visit?.(code, registers);
    const { flow, instruction } = code;
    if (flow === Flow.CALL || flow === Flow.CALL_INDIRECT) {
      registers.fill(undefined); // a hostile callee keeps no convention
      stack = [];
      continue;
    }
    if (flow === Flow.SYSCALL) registers[RAX] = undefined;
    const learned = learn(instruction, registers, stack);
    const op = instruction.mnemonic;
    for (const register of written(instruction).registers) {
      const index = gpr(register);
      if (index === undefined) continue;
      registers[index] = undefined;
      if (index === RSP && op !== Mnemonic.Push && op !== Mnemonic.Pop) stack = [];
    }
    if (op === Mnemonic.Push) stack.push(pushed(instruction, registers));
    if (op === Mnemonic.Pop) stack.pop();
    if (learned !== undefined) registers[learned.register] = learned.value;
  }
  return registers;
}

const RAX = 0;
const RSP = 4;

function gpr(register: Register): number | undefined {
  const { RegisterExt } = iced();
  return RegisterExt.isGPR(register) ? RegisterExt.number(full(register)) : undefined;
}

function pushed(i: Instruction, registers: readonly RegisterConstant[]): RegisterConstant {
  if (isImmediate(i.op0Kind)) return unsigned(Number(BigInt.asIntN(64, i.immediate(0))));
  return i.op0Kind === iced().OpKind.Register ? registers[gpr(i.op0Register) ?? -1] : undefined;
}

/** The kernel looks at 32 bits of a system call's number: larger constants are of no use here. */
function unsigned(value: number): RegisterConstant {
  return value >= 0 && value <= 0xffffffff
    ? value
    : value < 0 && value >= -0x80000000
      ? value >>> 0
      : undefined;
}

/** What an instruction puts into a register, when that is known. */
function learn(
  i: Instruction,
  registers: readonly RegisterConstant[],
  stack: readonly RegisterConstant[],
): { register: number; value: RegisterConstant } | undefined {
  const { Mnemonic, OpKind, Register, RegisterExt } = iced();
  if (i.opCount === 0 || i.op0Kind !== OpKind.Register) return undefined;
  const to = i.op0Register;
  const register = gpr(to);
  if (register === undefined) return undefined;
  const size = RegisterExt.size(to);
  const from = i.opCount > 1 && i.op1Kind === OpKind.Register ? i.op1Register : Register.None;
  const number =
    i.opCount > 1 && isImmediate(i.op1Kind) ? Number(BigInt.asIntN(64, i.immediate(1))) : undefined;
  const is = (value: RegisterConstant) => ({ register, value });
  switch (i.mnemonic) {
    case Mnemonic.Mov:
      if (number !== undefined && size >= 4) return is(unsigned(size === 4 ? number >>> 0 : number));
      if (number !== undefined) return is(partly(to, registers[register], number));
      // A narrow copy of what was handed in may lose some of it, but not of the 32 bits that matter.
      if (from !== Register.None && size >= 4) return is(registers[gpr(from) ?? -1]);
      return undefined;
    case Mnemonic.Xor:
    case Mnemonic.Sub:
      if (from === to && size >= 4) return is(0);
      return i.mnemonic === Mnemonic.Sub ? arithmetic(is, registers[register], number, size, -1) : undefined;
    case Mnemonic.Add:
      return arithmetic(is, registers[register], number, size, 1);
    case Mnemonic.Movsxd: {
      const value = from === Register.None ? undefined : registers[gpr(from) ?? -1];
      return value === undefined ? undefined : is(value);
    }
    case Mnemonic.Lea: {
      if (i.isIpRelMemoryOperand || i.memoryIndex !== Register.None || i.memoryBase === Register.None)
        return undefined;
      const base = registers[gpr(i.memoryBase) ?? -1];
      return arithmetic(is, base, Number(BigInt.asIntN(64, i.memoryDisplacement)), size, 1);
    }
    case Mnemonic.Pop:
      return size === 8 && stack.length > 0 ? is(stack.at(-1)) : undefined;
  }
  return undefined;
}

function arithmetic<T>(
  is: (value: RegisterConstant) => T,
  value: RegisterConstant,
  by: number | undefined,
  size: number,
  sign: 1 | -1,
) {
  if (value === undefined || value < 0 || by === undefined || size < 4) return undefined;
  return is(unsigned(value + sign * by));
}

/** mov $n,%al leaves the rest of %rax as it was; of %ah nothing is known here. */
function partly(to: Register, before: RegisterConstant, number: number): RegisterConstant {
  if (before === undefined || before < 0) return undefined;
  const { Register, RegisterExt } = iced();
  if (RegisterExt.size(to) === 2) return ((before & 0xffff0000) | (number & 0xffff)) >>> 0;
  if (to === Register.AH || to === Register.BH || to === Register.CH || to === Register.DH) return undefined;
  return ((before & 0xffffff00) | (number & 0xff)) >>> 0;
}
