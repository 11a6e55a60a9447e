import { type Argument, FLAGS, type Syscall, suggest } from "../../abi/index.js";
import { allCases, type Cases, type Sense, senseOf } from "./cases.js";
import type { Comparison } from "./compare.js";
import { PatternError } from "./glob.js";
import { parseSize } from "./quantity.js";

/** Flags by name: all of these, one of these, none of these. */
export interface FlagNames {
  readonly all: readonly string[];
  readonly any: readonly string[];
  readonly none: readonly string[];
}

interface FlagTest {
  readonly mask: number;
  readonly value: number;
}

/** The meaning of the names for one call: flags may have different numbers in another. */
export interface FlagTests {
  readonly all: readonly FlagTest[];
  readonly any: readonly FlagTest[];
  readonly none: readonly FlagTest[];
}

/** The argument that holds a call's flags; openat2 has them in a struct. */
interface FlagsArgument {
  readonly index: number;
  readonly argument: Argument;
  readonly table: string;
}

/** Cached, because every call asks for it. */
const found = new WeakMap<Syscall, { readonly flags: FlagsArgument | undefined }>();

export function flagsArgument(call: Syscall): FlagsArgument | undefined {
  const known = found.get(call) ?? { flags: findFlags(call) };
  found.set(call, known);
  return known.flags;
}

function findFlags(call: Syscall): FlagsArgument | undefined {
  const how = call.args.findIndex(({ struct }) => struct === "open_how");
  if (how >= 0) return { index: how, argument: call.args[how]!, table: "open" };
  const named = call.args.findIndex(({ kind, name }) => kind === "flags" && name.startsWith("flag"));
  const index = named >= 0 ? named : call.args.findIndex(({ kind }) => kind === "flags");
  const argument = call.args[index];
  return argument?.flags === undefined ? undefined : { index, argument, table: argument.flags };
}

/** Undefined when the call has no such flag, and so can never have it set. */
function testOf(table: string, name: string): FlagTest | undefined {
  const { kind, values, enumMask = 0 } = FLAGS[table] ?? { kind: "bits", values: {} };
  const value = (values as Readonly<Record<string, number>>)[name];
  if (value === undefined) return undefined;
  if (kind === "enum") return { mask: 0xffff_ffff, value: value >>> 0 };
  if ((value & ~enumMask) === 0 && enumMask !== 0) return { mask: enumMask, value };
  return value === 0 ? undefined : { mask: value >>> 0, value: value >>> 0 };
}

/** Undefined when the call can never have such flags. */
export function flagTests(call: Syscall, names: FlagNames): FlagTests | undefined {
  const table = flagsArgument(call)?.table;
  if (table === undefined) return undefined;
  const tests = (list: readonly string[]) => list.map((name) => testOf(table, name));
  const known = (list: (FlagTest | undefined)[]) => list.filter((test) => test !== undefined);
  const all = tests(names.all);
  const any = known(tests(names.any));
  if (all.includes(undefined) || (names.any.length > 0 && any.length === 0)) return undefined;
  return { all: known(all), any, none: known(tests(names.none)) };
}

export function matchFlags({ all, any, none }: FlagTests, bits: number): boolean {
  const holds = ({ mask, value }: FlagTest) => (bits & mask) >>> 0 === value;
  return all.every(holds) && (any.length === 0 || any.some(holds)) && !none.some(holds);
}

/** The tests as cases of one register. */
export function flagCases(
  argument: Argument,
  index: number,
  { all, any, none }: FlagTests,
): Cases | undefined {
  const masked = (mask: number, value: number): Cases => [
    [{ arg: index, width: argument.width, op: "masked", mask: BigInt(mask), value: BigInt(value) }],
  ];
  return allCases([
    ...all.map(({ mask, value }) => masked(mask, value)),
    ...(any.length > 0 ? [any.flatMap(({ mask, value }) => masked(mask, value))] : []),
    ...none.map(({ mask, value }) => differingCases(masked, mask, value)),
  ]);
}

/** The cases in which not all of these bits equal those of `value`: one case for each bit that differs. */
function differingCases(masked: (mask: number, value: number) => Cases, mask: number, value: number): Cases {
  return bitsOf(mask).flatMap((bit) => masked(bit, (~value & bit) >>> 0));
}

function bitsOf(mask: number): number[] {
  return Array.from({ length: 32 }, (_, i) => (1 << i) >>> 0).filter((bit) => (mask & bit) !== 0);
}

const MAX_TRIED_BITS = 12;

/** Whether the tests depend on the flags at all: tries every combination of the bits that they read. */
export function flagSense(tests: FlagTests): Sense {
  const looked = [...tests.all, ...tests.any, ...tests.none].reduce((bits, { mask }) => bits | mask, 0);
  const bits = bitsOf(looked >>> 0);
  if (bits.length > MAX_TRIED_BITS) return "sometimes";
  const combinations = Array.from({ length: 1 << bits.length }, (_, chosen) =>
    BigInt(bits.reduce((sum, bit, i) => (chosen & (1 << i) ? (sum | bit) >>> 0 : sum), 0)),
  );
  return senseOf((value) => matchFlags(tests, Number(value)), combinations);
}

/** `where: { prot: { all: [PROT_WRITE, PROT_EXEC] } }`: bits of an argument, by name or as numbers. */
export function compareBits(argument: Argument, index: number, names: FlagNames): Comparison {
  const tests = (list: readonly string[]) => list.map((name) => bitTest(argument, name));
  const all: FlagTests = { all: tests(names.all), any: tests(names.any), none: tests(names.none) };
  return {
    test: (value) => matchFlags(all, Number(BigInt.asUintN(32, value))),
    cases: flagCases(argument, index, all),
    sense: flagSense(all),
  };
}

function bitTest({ name, flags }: Argument, text: string): FlagTest {
  const number = parseSize(text);
  if (number !== undefined && number > 0n && number <= 0xffff_ffffn)
    return { mask: Number(number), value: Number(number) };
  const test = flags === undefined ? undefined : testOf(flags, text);
  if (test) return test;
  const known = Object.keys(FLAGS[flags ?? ""]?.values ?? {});
  if (known.includes(text)) throw new PatternError(`${text} is no bit of ${name}: it is 0, and always there`);
  const near = suggest(text, known);
  throw new PatternError(`${name} has no bit "${text}"${near ? `: did you mean ${near}?` : ""}`);
}

/** A flag that none of the calls has is an error. */
export function checkFlagNames(calls: readonly Syscall[], names: FlagNames): void {
  const tables = new Set(calls.flatMap((call) => flagsArgument(call)?.table ?? []));
  if (tables.size === 0) throw new PatternError("the calls of this rule have no flags");
  const known = new Set([...tables].flatMap((table) => Object.keys(FLAGS[table]?.values ?? {})));
  for (const name of [...names.all, ...names.any, ...names.none]) {
    if (known.has(name)) continue;
    const near = suggest(name, known);
    throw new PatternError(`unknown flag "${name}"${near ? `: did you mean ${near}?` : ""}`);
  }
}
