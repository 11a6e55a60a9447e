import {
  type ArgumentTest,
  AUDIT_ARCH_I386,
  AUDIT_ARCH_X86_64,
  type CallTreatment,
  type FilterAction,
  type FilterRule,
  type FilterSpec,
  type SeccompData,
  X32_SYSCALL_BIT,
} from "../../../src/kernel/filter/index.js";
import type { Random } from "./random.js";

/** Which actions and numbers a random specification is made of. */
export interface Ingredients {
  actions: readonly FilterAction[];
  numbers: readonly number[];
  foreign: readonly FilterSpec["foreign"][];
  /** Where the numbers without an entry need more care than the others. */
  otherwise?: readonly FilterAction[];
}

const EDGES = [
  0n,
  1n,
  0x7fffffffn,
  0x80000000n,
  0xffffffffn,
  1n << 32n,
  1n << 63n,
  (1n << 63n) - 1n,
  -1n,
  -100n,
];
const ORDERINGS = ["lt", "le", "gt", "ge"] as const;

export function randomSpec(random: Random, ingredients: Ingredients): FilterSpec {
  // A few constants for the whole specification, so that rules meet, overlap and hide each other.
  const constants = random.times(2 + random.below(8), () => randomConstant(random));
  const calls = new Map<number, CallTreatment>();
  for (const nr of ingredients.numbers) {
    if (random.chance(0.2)) continue;
    const before = calls.get(nr - 1);
    calls.set(nr, before && random.chance(0.2) ? before : randomCall(random, ingredients, constants));
  }
  return {
    calls,
    otherwise: random.pick(ingredients.otherwise ?? ingredients.actions),
    foreign: random.pick(ingredients.foreign),
  };
}

/** Calls that come close to every constant and every border the specification has. */
export function randomInputs(random: Random, spec: FilterSpec, count: number): SeccompData[] {
  const numbers = [...spec.calls.keys()];
  return random.times(count, () => {
    const nr = random.pick(numbers.length > 0 ? numbers : [0]);
    const near = [...constantsOf(spec.calls.get(nr)), ...EDGES];
    const args = random.times(6, () => BigInt.asUintN(64, nearby(random, random.pick(near))));
    return { nr: randomNumber(random, nr), arch: AUDIT_ARCH_X86_64, instructionPointer: random.long(), args };
  });
}

/** The same calls as another architecture would report them. */
export function asForeign(data: SeccompData): SeccompData {
  return { ...data, arch: AUDIT_ARCH_I386 };
}

function randomNumber(random: Random, nr: number): number {
  if (random.chance(0.8)) return nr;
  return random.pick([
    nr + 1,
    Math.max(0, nr - 1),
    nr + X32_SYSCALL_BIT,
    X32_SYSCALL_BIT - 1,
    0x80000000,
    0xfffffffe,
    -1,
  ]);
}

function nearby(random: Random, constant: bigint): bigint {
  const value = constant + BigInt(random.below(3) - 1);
  if (random.chance(0.6)) return value;
  return random.pick([
    value ^ (1n << BigInt(random.below(64))),
    BigInt.asUintN(32, value) | (BigInt(random.word()) << 32n),
    value << 32n,
    -value,
    random.long(),
  ]);
}

function constantsOf(call: CallTreatment | undefined): bigint[] {
  return (call?.rules ?? []).flatMap(({ tests }) => tests.flatMap(({ value }) => value));
}

function randomCall(random: Random, ingredients: Ingredients, constants: readonly bigint[]): CallTreatment {
  const count = random.chance(0.5) ? 0 : random.below(random.chance(0.2) ? 12 : 4);
  const args = random.times(3, () => random.below(6));
  const rules = random.times(count, (): FilterRule => {
    const tests = random.times(random.below(4), () => randomTest(random, random.pick(args), constants));
    return { tests, action: random.pick(ingredients.actions) };
  });
  return { rules, otherwise: random.pick(ingredients.actions) };
}

function randomTest(random: Random, arg: number, constants: readonly bigint[]): ArgumentTest {
  const width = random.pick([32, 64] as const);
  const pattern = (): bigint => BigInt.asUintN(width, random.pick(constants) + BigInt(random.below(3) - 1));
  const either = (value: bigint): bigint => (random.chance(0.2) ? BigInt.asIntN(width, value) : value);
  const op = random.pick(["eq", "ne", "in", "masked", ...ORDERINGS] as const);
  if (op === "in") {
    const many = random.chance(0.1) ? 60 : 6;
    return { arg, width, op, value: random.times(random.below(many), () => either(pattern())) };
  }
  if (op === "masked") return { arg, width, op, ...randomMask(random, width, pattern()) };
  if (op === "eq" || op === "ne") return { arg, width, op, value: either(pattern()) };
  if (random.chance(0.5)) return { arg, width, op, signed: true, value: BigInt.asIntN(width, pattern()) };
  return { arg, width, op, value: pattern() };
}

function randomMask(random: Random, width: 32 | 64, pattern: bigint): { mask: bigint; value: bigint } {
  const mask = BigInt.asUintN(
    width,
    random.pick([
      1n << BigInt(random.below(64)),
      random.long(),
      random.long() & random.long() & random.long(),
      0xffffffffn,
      0xffffffffn << 32n,
      ~0xfffn,
      0n,
      -1n,
    ]),
  );
  const value = random.pick([0n, mask, pattern & mask, pattern & mask, random.chance(0.1) ? pattern : 0n]);
  return { mask: random.chance(0.2) ? BigInt.asIntN(width, mask) : mask, value };
}

function randomConstant(random: Random): bigint {
  return random.pick([random.pick(EDGES), BigInt(random.below(64)), BigInt(random.word()), random.long()]);
}
