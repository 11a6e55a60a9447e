import { describe, expect, it } from "vitest";
import {
  AUDIT_ARCH_X86_64,
  BPF_OP,
  compileFilter,
  disassemble,
  encodeFilter,
  executedInstructions,
  type FilterSpec,
  type Instruction,
  InvalidProgram,
  interpretFilter,
} from "../../../src/kernel/filter/index.js";

const RETURN_ALLOW: Instruction = { code: BPF_OP.RETURN, jt: 0, jf: 0, k: 0x7fff0000 };
const GETPID = { nr: 39, arch: AUDIT_ARCH_X86_64, instructionPointer: 0n, args: [0n, 0n, 0n, 0n, 0n, 0n] };

const spec: FilterSpec = {
  calls: new Map([
    [
      2,
      {
        rules: [
          { tests: [{ arg: 1, width: 32, op: "masked", mask: 3n, value: 3n }], action: { do: "kill" } },
        ],
        otherwise: { do: "notify" },
      },
    ],
    [59, { rules: [], otherwise: { do: "trace", cookie: 7 } }],
  ]),
  otherwise: { do: "allow" },
  foreign: { do: "errno", errno: 38 },
};

describe("encodeFilter", () => {
  it("writes struct sock_filter in little endian", () => {
    const bytes = encodeFilter([{ code: 0x15, jt: 1, jf: 2, k: 0xc000003e }]);
    expect([...bytes]).toEqual([0x15, 0, 1, 2, 0x3e, 0, 0, 0xc0]);
  });
});

describe("the interpreter", () => {
  it.each([
    ["an empty program", []],
    ["a program that does not end in a return", [{ code: BPF_OP.LOAD_WORD, jt: 0, jf: 0, k: 0 }]],
    ["a jump past the end", [{ code: BPF_OP.JUMP, jt: 0, jf: 0, k: 1 }, RETURN_ALLOW]],
    ["a branch past the end", [{ code: BPF_OP.JEQ, jt: 0, jf: 1, k: 1 }, RETURN_ALLOW]],
    ["an unaligned load", [{ code: BPF_OP.LOAD_WORD, jt: 0, jf: 0, k: 2 }, RETURN_ALLOW]],
    ["a load beyond seccomp_data", [{ code: BPF_OP.LOAD_WORD, jt: 0, jf: 0, k: 64 }, RETURN_ALLOW]],
    ["an unknown instruction", [{ code: 0xff, jt: 0, jf: 0, k: 0 }, RETURN_ALLOW]],
    ["4097 instructions", new Array<Instruction>(4097).fill(RETURN_ALLOW)],
  ])("refuses %s", (_, program) => {
    expect(() => interpretFilter(program, GETPID)).toThrow(InvalidProgram);
  });

  it("counts the instructions that a call executes", () => {
    expect(executedInstructions([RETURN_ALLOW], GETPID)).toBe(1);
    expect(executedInstructions(compileFilter(spec), GETPID)).toBeLessThanOrEqual(7);
  });
});

describe("disassemble", () => {
  it("names words, syscalls, targets and actions", () => {
    const names = new Map([[59, "execve"]]);
    expect(disassemble(compileFilter(spec), (nr) => names.get(nr))).toMatchInlineSnapshot(`
      " 0  load arch
       1  if arch == x86_64 goto 2 else 15
       2  load nr
       3  if nr >= 58 goto 10 else 4
       4  if nr == 2 goto 5 else 16
       5  load arg1.low
       6  and 0x3
       7  if (arg1.low & 0x3) == 0x3 goto 9 else 8
       8  return notify
       9  return kill
      10  if nr >= 60 goto 13 else 11
      11  if nr >= 59 (execve) goto 12 else 16
      12  return trace 7
      13  if nr >= 0x40000000 goto 14 else 16
      14  if nr >= 0xffffffff goto 16 else 15
      15  return errno 38
      16  return allow
      "
    `);
  });
});
