import { BadDwarf, DwarfCursor } from "../../binary/elf/dwarf-cursor.js";
import { DWARF_REGISTERS, type Expression } from "./unwind-row.js";

/** DWARF expressions, as unwind tables use them: the PLT's, the signal trampoline's, those of code that aligns its stack. */

const MOST_STEPS = 1000;
const MOST_VALUES = 64;

interface UnwindMachine {
  readonly registers: Float64Array;
  /** Eight bytes of memory; throws when they cannot be read. */
  word(address: number): number;
}

type Values = bigint[];

const u64 = (value: bigint) => BigInt.asUintN(64, value);
const s64 = (value: bigint) => BigInt.asIntN(64, value);
const truth = (yes: boolean) => (yes ? 1n : 0n);

/** The value on top of the stack at the end. For a register's rule the CFA is on the stack from the start. */
export function evaluate({ code }: Expression, machine: UnwindMachine, first?: number): number {
  const cursor = new DwarfCursor(code.bytes, code.at, code.end);
  const values: Values = first === undefined ? [] : [BigInt(first)];
  for (let steps = 0; cursor.more; steps++) {
    if (steps >= MOST_STEPS || values.length > MOST_VALUES)
      throw new BadDwarf("an expression without an end");
    step(cursor.u8(), cursor, values, machine);
  }
  return Number(pop(values));
}

function step(op: number, code: DwarfCursor, values: Values, machine: UnwindMachine): void {
  if (op >= 0x30 && op <= 0x4f) values.push(BigInt(op - 0x30));
  else if (op >= 0x70 && op <= 0x8f) values.push(based(machine, op - 0x70, code.sleb()));
  else if (op === 0x92) values.push(based(machine, code.uleb(), code.sleb()));
  else if (op === 0x06) values.push(BigInt(machine.word(Number(pop(values)))));
  else if (op === 0x94) values.push(sized(code.u8(), machine, Number(pop(values))));
  else if (op === 0x28 || op === 0x2f) jump(op, code, values);
  else if (op !== 0x96) values.push(...(CONSTANT[op]?.(code) ?? shuffle(op, code, values)));
}

function based({ registers }: UnwindMachine, register: number, offset: number): bigint {
  if (register >= DWARF_REGISTERS) throw new BadDwarf("an unknown register");
  return u64(BigInt(registers[register]!) + BigInt(offset));
}

function sized(size: number, machine: UnwindMachine, address: number): bigint {
  if (size !== 1 && size !== 2 && size !== 4 && size !== 8) throw new BadDwarf("a read of an odd size");
  return BigInt.asUintN(size * 8, BigInt(machine.word(address)));
}

/** DW_OP_skip and DW_OP_bra, both counted from behind themselves. */
function jump(op: number, code: DwarfCursor, values: Values): void {
  const by = code.s16();
  if (op === 0x28 && pop(values) === 0n) return;
  const at = code.at + by;
  if (at < 0 || at > code.end) throw new BadDwarf("an expression that leaves itself");
  code.at = at;
}

const CONSTANT: Readonly<Record<number, (code: DwarfCursor) => Values>> = {
  3: (code) => [BigInt(code.u64())],
  8: (code) => [BigInt(code.u8())],
  9: (code) => [u64(BigInt.asIntN(8, BigInt(code.u8())))],
  10: (code) => [BigInt(code.u16())],
  11: (code) => [u64(BigInt(code.s16()))],
  12: (code) => [BigInt(code.u32())],
  13: (code) => [u64(BigInt(code.s32()))],
  14: (code) => [BigInt(code.u64())],
  15: (code) => [u64(BigInt(code.s64()))],
  16: (code) => [BigInt(code.uleb())],
  17: (code) => [u64(BigInt(code.sleb()))],
};

/** Pops the operands and returns what to push. */
function shuffle(op: number, code: DwarfCursor, values: Values): Values {
  const b = pop(values);
  switch (op) {
    case 0x12: // dup
      return [b, b];
    case 0x13: // drop
      return [];
    case 0x15: {
      // pick
      const all = [...values, b];
      const picked = all[all.length - 1 - code.u8()];
      if (picked === undefined) throw new BadDwarf("an expression of nothing");
      return [b, picked];
    }
    case 0x19: // abs
      return [s64(b) < 0n ? u64(-b) : b];
    case 0x1f: // neg
      return [u64(-b)];
    case 0x20: // not
      return [u64(~b)];
    case 0x23: // plus_uconst
      return [u64(b + BigInt(code.uleb()))];
    default: {
      const a = pop(values);
      if (op === 0x14) return [a, b, a]; // over
      if (op === 0x16) return [b, a]; // swap
      if (op === 0x17) return [b, pop(values), a]; // rot
      const combine = TWO[op];
      if (!combine) throw new BadDwarf(`an unknown operation (${op})`);
      return [u64(combine(a, b))];
    }
  }
}

const shifted = (a: bigint, b: bigint, shift: (a: bigint, b: bigint) => bigint) =>
  b > 63n ? 0n : shift(a, b);
const divided = (a: bigint, b: bigint, divide: (a: bigint, b: bigint) => bigint) => {
  if (b === 0n) throw new BadDwarf("a division by zero");
  return divide(a, b);
};

const TWO: Readonly<Record<number, (a: bigint, b: bigint) => bigint>> = {
  26: (a, b) => a & b,
  27: (a, b) => divided(a, b, () => s64(a) / s64(b)),
  28: (a, b) => a - b,
  29: (a, b) => divided(a, b, () => a % b),
  30: (a, b) => a * b,
  33: (a, b) => a | b,
  34: (a, b) => a + b,
  36: (a, b) => shifted(a, b, () => a << b),
  37: (a, b) => shifted(a, b, () => a >> b),
  38: (a, b) => shifted(s64(a), b > 63n ? 63n : b, (x, y) => x >> y),
  39: (a, b) => a ^ b,
  41: (a, b) => truth(a === b),
  42: (a, b) => truth(s64(a) >= s64(b)),
  43: (a, b) => truth(s64(a) > s64(b)),
  44: (a, b) => truth(s64(a) <= s64(b)),
  45: (a, b) => truth(s64(a) < s64(b)),
  46: (a, b) => truth(a !== b),
};

function pop(values: Values): bigint {
  const value = values.pop();
  if (value === undefined) throw new BadDwarf("an expression of nothing");
  return value;
}
