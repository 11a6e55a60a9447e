import { describe, expect, it } from "vitest";
import {
  type ArgumentTest,
  AUDIT_ARCH_X86_64,
  BPF_OP,
  type CallTreatment,
  compileFilter,
  type FilterAction,
  type FilterRule,
  type FilterSpec,
  FilterTooLarge,
  type Instruction,
  InvalidFilterSpec,
  loadFilter,
  MAX_INSTRUCTIONS,
} from "../../../src/kernel/filter/index.js";
import { Random } from "./random.js";

const SYSCALLS = 470;
const ALLOW: FilterAction = { do: "allow" };
const NOTIFY: FilterAction = { do: "notify" };
const DENY: FilterAction = { do: "errno", errno: 13 };

const filter = (
  calls: Iterable<readonly [number, CallTreatment]>,
  otherwise: FilterAction = ALLOW,
): FilterSpec => ({
  calls: new Map(calls),
  otherwise,
  foreign: { do: "kill" },
});
const always = (action: FilterAction): CallTreatment => ({ rules: [], otherwise: action });
const table = (treatment: (nr: number) => CallTreatment) =>
  Array.from({ length: SYSCALLS }, (_, nr) => [nr, treatment(nr)] as const);
const rule = (action: FilterAction, ...tests: ArgumentTest[]): FilterRule => ({ tests, action });
const equals = (arg: number, value: bigint, width: 32 | 64 = 32): ArgumentTest => ({
  arg,
  width,
  op: "eq",
  value,
});

const compileCall = (...rules: FilterRule[]) => compileFilter(filter([[16, { rules, otherwise: DENY }]]));

/** The most instructions that any number executes, with these arguments. */
function longest(program: Instruction[], args: bigint[] = [0n, 0n, 0n, 0n, 0n, 0n]): number {
  const run = loadFilter(program);
  const numbers = Array.from({ length: SYSCALLS + 10 }, (_, i) => i - 1);
  return Math.max(
    ...numbers.map((nr) => run({ nr, arch: AUDIT_ARCH_X86_64, instructionPointer: 0n, args }).executed),
  );
}

const count = (program: Instruction[], code: number) => program.filter((it) => it.code === code).length;

describe("the search for a syscall number", () => {
  it("is at most 7 instructions long when everything is allowed", () => {
    expect(compileFilter(filter([])).length).toBeLessThanOrEqual(7);
    expect(compileFilter(filter(table(() => always(ALLOW))))).toEqual(compileFilter(filter([])));
  });

  it("executes at most 15 instructions when all 470 calls are treated differently", () => {
    const program = compileFilter(filter(table((nr) => always({ do: "errno", errno: nr + 1 }))));
    expect(longest(program)).toBeLessThanOrEqual(15);
    expect(program.length).toBeLessThanOrEqual(2 * SYSCALLS + 20);
  });

  it("executes at most 14 instructions for random treatments of all 470 calls", () => {
    const random = new Random(1);
    const actions = [ALLOW, NOTIFY, DENY, { do: "kill" }, { do: "trace", cookie: 9 }] as const;
    const program = compileFilter(filter(table(() => always(random.pick(actions)))));
    expect(longest(program)).toBeLessThanOrEqual(14);
    expect(program.length).toBeLessThanOrEqual(SYSCALLS + 50);
  });

  it("spends at most two instructions for each call that stands out", () => {
    const random = new Random(2);
    const notified = new Set(random.times(60, () => random.below(SYSCALLS)));
    const program = compileFilter(filter([...notified].map((nr) => [nr, always(NOTIFY)] as const)));
    expect(program.length).toBeLessThanOrEqual(2 * notified.size + 10);
  });

  it("takes neighbours with equal rules as one range", () => {
    const treatment = (): CallTreatment => ({ rules: [rule(ALLOW, equals(0, 3n))], otherwise: NOTIFY });
    const one = compileFilter(filter([[50, treatment()]]));
    const range = compileFilter(
      filter(Array.from({ length: 100 }, (_, i) => [50 + i, treatment()] as const)),
    );
    expect(range.length).toBeLessThanOrEqual(one.length + 1);
  });
});

describe("argument rules", () => {
  it("load a word once for many tests of it", () => {
    const masks = [1n, 2n, 4n, 8n].map(
      (mask): ArgumentTest => ({ arg: 1, width: 32, op: "masked", mask, value: mask }),
    );
    expect(count(compileCall(rule(ALLOW, ...masks)), BPF_OP.LOAD_WORD)).toBe(3); // arch, nr, arg1.low
  });

  it("never look at the upper half of a 32-bit argument", () => {
    const program = compileCall(rule(ALLOW, equals(0, -100n), { arg: 1, width: 32, op: "lt", value: 5n }));
    const loaded = program.filter(({ code }) => code === BPF_OP.LOAD_WORD).map(({ k }) => k);
    expect(loaded).toEqual([4, 0, 16, 24]);
  });

  it("search a list of 200 values in at most 16 instructions", () => {
    const value = Array.from({ length: 200 }, (_, i) => BigInt(0x5400 + 3 * i));
    const program = compileCall(rule(ALLOW, { arg: 1, width: 32, op: "in", value }));
    const executed = value.map((it) => longest(program, [0n, it, 0n, 0n, 0n, 0n]));
    expect(Math.max(...executed, longest(program))).toBeLessThanOrEqual(16);
  });

  it("make one search of 200 single rules about the same argument", () => {
    const rules = Array.from({ length: 200 }, (_, i) =>
      rule(i % 2 ? ALLOW : NOTIFY, equals(1, BigInt(0x5400 + 3 * i), 64)),
    );
    const program = compileCall(...rules);
    expect(longest(program, [0n, 0x5400n + 597n, 0n, 0n, 0n, 0n])).toBeLessThanOrEqual(18);
  });

  it("disappear when they cannot match or cannot matter", () => {
    const plain = compileCall();
    const never: ArgumentTest = { arg: 0, width: 32, op: "lt", value: 0n };
    const contradiction = [equals(0, 1n), equals(0, 2n)];
    const outsideItsMask: ArgumentTest = { arg: 0, width: 64, op: "masked", mask: 1n, value: 2n };
    expect(compileCall(rule(ALLOW, never))).toEqual(plain);
    expect(compileCall(rule(ALLOW, ...contradiction))).toEqual(plain);
    expect(compileCall(rule(ALLOW, outsideItsMask))).toEqual(plain);
    expect(compileCall(rule(ALLOW, { arg: 0, width: 32, op: "in", value: [] }))).toEqual(plain);
    expect(compileCall(rule(DENY, equals(3, 77n)))).toEqual(plain);
  });

  it("share what rules of different calls have in common", () => {
    const tail = [rule(ALLOW, equals(2, 1n)), rule(NOTIFY, equals(3, 2n)), rule(ALLOW, equals(4, 3n))];
    const one = filter([[16, { rules: [rule(DENY, equals(0, 9n)), ...tail], otherwise: NOTIFY }]]);
    const two = filter([
      ...one.calls,
      [72, { rules: [rule(DENY, equals(1, 9n)), ...tail], otherwise: NOTIFY }],
    ]);
    expect(compileFilter(two).length - compileFilter(one).length).toBeLessThanOrEqual(5);
  });
});

describe("the size of a program", () => {
  it("stays below the limit for all 470 calls with two different 64-bit tests each", () => {
    const rules = (nr: number) =>
      [0, 1].map((arg) => rule(DENY, equals(arg, BigInt(0x1000 + nr * 7 + arg), 64)));
    const program = compileFilter(
      filter(table((nr) => ({ rules: rules(nr), otherwise: nr % 2 ? ALLOW : NOTIFY }))),
    );
    expect(program.length).toBeLessThan(3500);
    expect(longest(program)).toBeLessThanOrEqual(30);
  });

  it("grows with the number of rules that overlap in three arguments, not with its square", () => {
    const window = (arg: number, from: number): ArgumentTest[] => [
      { arg, width: 32, op: "ge", value: BigInt(from) },
      { arg, width: 32, op: "le", value: BigInt(from + 300) },
    ];
    const overlapping = (length: number) =>
      Array.from({ length }, (_, i) =>
        rule(
          { do: "errno", errno: i + 1 },
          ...[7, 13, 19].flatMap((step, arg) => window(arg, ((i * step) % 97) * 10)),
        ),
      );
    expect(compileCall(...overlapping(80)).length).toBeLessThan(80 * 11);
    expect(compileCall(...overlapping(160)).length).toBeLessThan(160 * 11);
  });

  it("is refused with a clear error when the kernel would not take it", () => {
    const rules = Array.from({ length: 20_000 }, (_, i) =>
      rule(i % 2 ? ALLOW : NOTIFY, equals(i % 6, BigInt(i))),
    );
    const compile = () => compileCall(...rules);
    expect(compile).toThrow(FilterTooLarge);
    expect(compile).toThrow(/needs \d{5} instructions and the kernel takes at most 4096/);
    expect(compile).toThrow(expect.objectContaining({ limit: MAX_INSTRUCTIONS }));
  });
});

describe("a specification is refused", () => {
  const spoiled: [string, Partial<ArgumentTest>, RegExp][] = [
    ["with a seventh argument", { arg: 6 }, /^syscall 16, rule 0, test 0: argument 6/],
    ["with a constant wider than its argument", { value: 1n << 32n }, /4294967296 is not a value/],
    ["with an unsigned ordering of a negative number", { op: "lt", value: -1n }, /-1 is not a value/],
    [
      "with a signed ordering of a number too large",
      { op: "lt", signed: true, value: 1n << 31n },
      /is not a value/,
    ],
    ["with one value where a list belongs", { op: "in" }, /in needs a list/],
    ["with a list where one value belongs", { value: [1n] }, /eq needs one value/],
    ["with masked but no mask", { op: "masked" }, /masked needs one/],
    ["with a mask that the comparison does not use", { mask: 1n }, /a mask belongs to masked/],
  ];
  it.each(spoiled)("%s", (_, change, message) => {
    const compile = () => compileCall(rule(ALLOW, { ...equals(0, 1n), ...change }));
    expect(compile).toThrow(InvalidFilterSpec);
    expect(compile).toThrow(message);
  });

  it.each([-1, 0.5, 0x40000000])("with the number %s, which is no x86_64 call", (nr) => {
    expect(() => compileFilter(filter([[nr, always(ALLOW)]]))).toThrow(InvalidFilterSpec);
  });

  it("with an errno that the kernel would change", () => {
    expect(() => compileFilter(filter([], { do: "errno", errno: 4096 }))).toThrow(
      /errno 4096 is not in 0..4095/,
    );
  });

  it("with a trace cookie that does not fit", () => {
    expect(() => compileFilter(filter([], { do: "trace", cookie: 65536 }))).toThrow(/cookie 65536/);
  });
});
