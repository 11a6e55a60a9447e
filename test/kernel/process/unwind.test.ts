import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DwarfBytes, DwarfCursor, Elf } from "../../../src/binary/elf/index.js";
import { StackMemory } from "../../../src/kernel/process/stack-memory.js";
import { type CodeMap, newWalk, Unwinder } from "../../../src/kernel/process/unwind.js";
import { evaluate } from "../../../src/kernel/process/unwind-expression.js";
import {
  DWARF_REGISTERS,
  RBP,
  RETURN_ADDRESS,
  RSP,
  type UnwindRow,
} from "../../../src/kernel/process/unwind-row.js";
import { UnwindTable } from "../../../src/kernel/process/unwind-table.js";
import { frameOf } from "../../../src/nouns/inside.js";
import { Random } from "../../support/random.js";

const STACK = 0x7ffd_0000_0000;
const CODE = 0x40_0000;

/** A stack of words, at STACK; all else is unreadable. */
function memoryOf(words: readonly number[]): StackMemory {
  const bytes = Buffer.alloc(words.length * 8);
  words.forEach((word, i) => void bytes.writeBigUInt64LE(BigInt(word), i * 8));
  return new StackMemory((address, into) => {
    const at = Number(address) - (STACK - 0x1000);
    if (at < 0 || at >= bytes.length + 0x1000) return -14;
    const whole = Buffer.concat([Buffer.alloc(0x1000), bytes]);
    return whole.copy(into, 0, at);
  });
}

const isCode = (address: number) => address >= CODE && address < CODE + 0x1000;
const codeOf = (row: UnwindRow | undefined): CodeMap => ({
  row: (address) => (isCode(address) ? row : undefined),
  isCode,
  isVdso: () => false,
});

const walkFrom = (memory: StackMemory, code: CodeMap, set: Readonly<Record<number, number>>) => {
  const registers = new Float64Array(DWARF_REGISTERS);
  registers[RSP] = STACK;
  registers[RETURN_ADDRESS] = CODE;
  for (const [register, value] of Object.entries(set)) registers[Number(register)] = value;
  return new Unwinder(memory, code).walk(registers, true, newWalk(64));
};

/** CFA = rsp + 8, the return address below it: what a function looks like before its first instruction. */
const plain: UnwindRow = {
  cfaRegister: RSP,
  cfaOffset: 8,
  cfaExpression: undefined,
  saved: Int32Array.of(RETURN_ADDRESS, -8),
  others: [],
  isSignal: false,
  isOutermost: false,
};

describe("a walk along a stack", () => {
  it("ends where the return address is zero, or where there is no caller", () => {
    expect(walkFrom(memoryOf([CODE + 1, CODE + 2, 0]), codeOf(plain), {})).toMatchObject({
      count: 3,
      end: "start",
    });
    expect(walkFrom(memoryOf([]), codeOf({ ...plain, isOutermost: true }), {})).toMatchObject({
      count: 1,
      end: "start",
    });
  });

  it("ends with a reason where the stack holds garbage, cannot be read, or is too deep", () => {
    expect(walkFrom(memoryOf([CODE + 1, 0x1234]), codeOf(plain), {})).toMatchObject({
      count: 2,
      end: "corrupt stack",
    });
    expect(walkFrom(memoryOf([CODE + 1]), codeOf(plain), {})).toMatchObject({
      count: 2,
      end: "unreadable stack",
    });
    expect(walkFrom(memoryOf([]), codeOf(plain), { [RSP]: 0x10 })).toMatchObject({ end: "unreadable stack" });
    expect(walkFrom(memoryOf([]), codeOf(plain), { [RSP]: 2 ** 63 })).toMatchObject({
      end: "corrupt stack",
    });
    expect(walkFrom(memoryOf(new Array(100).fill(CODE + 1)), codeOf(plain), {})).toMatchObject({
      count: 64,
      end: "limit",
    });
    expect(walkFrom(memoryOf([]), codeOf(undefined), {})).toMatchObject({
      count: 1,
      end: "no unwind tables",
    });
  });

  it("never goes round: callers lie higher", () => {
    const down: UnwindRow = { ...plain, cfaRegister: RBP, cfaOffset: 0 };
    expect(walkFrom(memoryOf([CODE]), codeOf(down), { [RBP]: STACK })).toMatchObject({
      count: 1,
      end: "corrupt stack",
    });
    // A frame pointer that leads to itself.
    const loop = walkFrom(memoryOf([STACK, CODE + 1, 0]), codeOf(undefined), { [RBP]: STACK });
    expect(loop).toMatchObject({ count: 2, end: "no unwind tables" });
    // Signal frames may lead anywhere, also to themselves: then the limit ends it.
    const signal: UnwindRow = {
      ...plain,
      isSignal: true,
      saved: Int32Array.of(RETURN_ADDRESS, -8, RSP, -16),
    };
    const round = walkFrom(memoryOf([STACK + 8, CODE, 0, 0]), codeOf(signal), { [RSP]: STACK + 8 });
    expect(round).toMatchObject({ count: 64, end: "limit" });
  });

  it("follows frame pointers where no table tells, and says so", () => {
    const words = [STACK + 16, CODE + 1, STACK + 32, CODE + 2, 0, 0];
    const walk = walkFrom(memoryOf(words), codeOf(undefined), { [RBP]: STACK });
    expect([...walk.addresses.slice(0, walk.count)]).toEqual([CODE, CODE + 1, CODE + 2]);
    expect([...walk.found.slice(0, walk.count)]).toEqual([0, 2, 2]);
    expect(walk.end).toBe("start");
  });

  it("survives garbage of all kinds", () => {
    const random = new Random(7);
    const integer = (below: number) => random.below(below);
    const elf = Elf.open("/usr/bin/true");
    const table = UnwindTable.of(elf);
    const text = elf.section(".text")!;
    const code: CodeMap = {
      row: (address) => table.row(address),
      isCode: (address) => address >= text.address && address < text.address + text.size,
      isVdso: () => false,
    };
    const word = () =>
      [0, text.address + integer(text.size), STACK + integer(4096), integer(2 ** 31), 2 ** 60][integer(5)]!;
    const ends = new Set<string>();
    for (let i = 0; i < 3000; i++) {
      const memory = memoryOf(Array.from({ length: 64 }, word));
      const set = Object.fromEntries(Array.from({ length: DWARF_REGISTERS }, (_, r) => [r, word()]));
      const walk = walkFrom(memory, code, { ...set, [RSP]: STACK + integer(256) });
      expect(walk.count).toBeLessThanOrEqual(64);
      ends.add(walk.end);
    }
    expect([...ends].sort()).toEqual(expect.arrayContaining(["corrupt stack", "start", "unreadable stack"]));
    elf.close();
  });
});

describe("unwind tables", () => {
  it("of the PLT tell the stack by where in an entry the program is", () => {
    const elf = Elf.open("/usr/bin/git");
    const plt = elf.section(".plt")!;
    const row = UnwindTable.of(elf).row(plt.address + 16)!;
    const registers = new Float64Array(DWARF_REGISTERS);
    registers[RSP] = STACK;
    const cfaAt = (offset: number) => {
      registers[RETURN_ADDRESS] = plt.address + 16 + offset;
      return evaluate(row.cfaExpression!, { registers, word: () => 0 }) - STACK;
    };
    // jmp *slot (6 bytes), push number (5), jmp (5): the push is behind us from byte 11 on.
    expect([0, 6, 10, 11, 15].map(cfaAt)).toEqual([8, 8, 8, 16, 16]);
    elf.close();
  });

  it("that are broken give no rows, and never more than that", () => {
    const random = new Random(11);
    const integer = (below: number) => random.below(below);
    const whole = readFileSync("/usr/bin/true");
    const good = Elf.from(whole);
    const parts = [".eh_frame", ".eh_frame_hdr"].map((name) => good.section(name)!);
    const text = good.section(".text")!;
    let rows = 0;
    for (let i = 0; i < 400; i++) {
      const bytes = Uint8Array.from(whole);
      const part = parts[integer(2)]!;
      for (let n = 0; n < 1 + integer(40); n++) bytes[part.offset + integer(part.size)] = integer(256);
      const table = UnwindTable.of(Elf.from(bytes));
      for (let n = 0; n < 50; n++) if (table.row(text.address + integer(text.size))) rows++;
    }
    expect(rows).toBeGreaterThan(5000);
  });

  it("whose expressions are broken end the walk", () => {
    const random = new Random(13);
    const integer = (below: number) => random.below(below);
    for (let i = 0; i < 5000; i++) {
      const bytes = Uint8Array.from({ length: 1 + integer(12) }, () => integer(256));
      const expression = { code: new DwarfCursor(new DwarfBytes(bytes, 0), 0) };
      const code = codeOf({ ...plain, cfaExpression: expression });
      const { end, count } = walkFrom(memoryOf([CODE + 1, CODE + 2, CODE + 3]), code, {});
      expect(count).toBeLessThanOrEqual(64);
      expect(["corrupt stack", "broken unwind tables", "unreadable stack", "limit", "start"]).toContain(end);
    }
    const forever = Uint8Array.of(0x2f, 0xfd, 0xff); // skip back to itself
    const row = { ...plain, cfaExpression: { code: new DwarfCursor(new DwarfBytes(forever, 0), 0) } };
    expect(walkFrom(memoryOf([]), codeOf(row), {}).end).toBe("broken unwind tables");
  });
});

it("a frame's text says what is known, and can be read back", () => {
  const parts = (text: string) => {
    const { module, symbol, symbolOffset, offset, address } = frameOf(text);
    return [module, symbol, symbolOffset, offset, Number(address)];
  };
  expect(parts("libc!read+0x10")).toEqual(["libc", "read", 16, undefined, 0]);
  expect(parts("libc!read")).toEqual(["libc", "read", 0, undefined, 0]);
  expect(parts("app+0x1234")).toEqual(["app", undefined, undefined, 0x1234, 0]);
  expect(parts("0x7f00")).toEqual([undefined, undefined, undefined, undefined, 0x7f00]);
  expect(parts("LazyCompile:*f /a.js:1+0x3")).toEqual(["LazyCompile:*f /a.js:1", undefined, undefined, 3, 0]);
  expect(parts("[vdso]!clock_gettime+0x1")).toEqual(["[vdso]", "clock_gettime", 1, undefined, 0]);
});
