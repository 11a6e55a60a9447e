import { type Argument, FLAGS, parseFlags, signalNumber, suggest } from "../../abi/index.js";
import type { ConstantTest } from "../policy.js";
import { ALWAYS, allCases, type Cases, type Sense, senseOf } from "./cases.js";
import { compileWord, PatternError } from "./glob.js";
import { parseSize } from "./quantity.js";

/**
 * Comparisons of one argument: `1`, `"> 1MB"`, `"10..20"`, `AF_INET`, `"!= 0"`. Of a list one must match, and
 * no negated one.
 */
export interface Comparison {
  /** Tests a number, as the register holds it. */
  readonly test: (value: bigint) => boolean;
  /** The same for the kernel's filter; undefined when it cannot express it. */
  readonly cases: Cases | undefined;
  readonly sense: Sense;
}

const SCALARS = new Set([
  "int",
  "uint",
  "size",
  "offset",
  "flags",
  "mode",
  "fd",
  "dirfd",
  "pid",
  "uid",
  "gid",
  "signal",
  "address",
]);

export function isScalar(argument: Argument): boolean {
  return SCALARS.has(argument.kind);
}

/** One comparison without its `!`: some values, or all others. */
interface One {
  readonly test: (value: bigint) => boolean;
  readonly cases: Cases;
  /** The cases in which it does not hold. */
  readonly others: Cases | undefined;
  /** The values at which it changes. */
  readonly edges: readonly bigint[];
  readonly equals?: bigint;
}

export function compareScalar(argument: Argument, index: number, texts: readonly string[]): Comparison {
  const isNegated = (text: string) => text.trim().startsWith("!");
  const wanted = texts.filter((text) => !isNegated(text)).map((text) => compareOne(argument, index, text));
  const excepted = texts
    .filter(isNegated)
    .map((text) => compareOne(argument, index, text.trim().replace(/^!=?\s*/, "")));
  const test = (value: bigint) =>
    (wanted.length === 0 || wanted.some((one) => one.test(value))) &&
    !excepted.some((one) => one.test(value));
  const edges = [...wanted, ...excepted].flatMap((one) => one.edges);
  return {
    test,
    cases: allCases([anyOf(argument, index, wanted), ...excepted.map((one) => one.others)]),
    sense: senseOf(test, [...edges, ...limitsOf(argument)]),
  };
}

function anyOf(argument: Argument, index: number, wanted: readonly One[]): Cases {
  if (wanted.length === 0) return ALWAYS;
  const values = wanted.map(({ equals }) => equals);
  if (wanted.length > 1 && values.every((value) => value !== undefined))
    return [[{ arg: index, width: argument.width, op: "in", value: values as bigint[] }]];
  return wanted.flatMap(({ cases }) => cases);
}

const OPERATORS = { "==": "eq", "=": "eq", "<": "lt", "<=": "le", ">": "gt", ">=": "ge" } as const;
const OPPOSITE = { lt: "ge", le: "gt", gt: "le", ge: "lt" } as const;
const PATTERN = /^(==|<=|>=|=|<|>)?\s*(.+)$/;

function compareOne(argument: Argument, index: number, text: string): One {
  const range = /^(\S+)\s*\.\.\s*(\S+)$/.exec(text.trim());
  if (range) {
    const from = compareOrder(argument, index, "ge", number(argument, range[1]!));
    const to = compareOrder(argument, index, "le", number(argument, range[2]!));
    return {
      test: (value) => from.test(value) && to.test(value),
      cases: allCases([from.cases, to.cases])!,
      others: [...from.others!, ...to.others!],
      edges: [...from.edges, ...to.edges],
    };
  }
  const [, sign, operand] = PATTERN.exec(text.trim()) ?? [];
  if (operand === undefined) throw new PatternError(`"${text}" is not a comparison`);
  const op = sign === undefined ? "eq" : OPERATORS[sign as keyof typeof OPERATORS];
  const against = number(argument, operand);
  if (op !== "eq") return compareOrder(argument, index, op, against);
  const mask = partOf(argument, operand);
  return mask === undefined
    ? compareEqual(argument, index, against)
    : comparePart(argument, index, mask, against);
}

function compareEqual(argument: Argument, index: number, against: bigint): One {
  const read = readerOf(argument);
  const base = { arg: index, width: argument.width, value: against };
  return {
    test: (value) => read(value) === against,
    cases: isValue(argument, against) ? [[{ ...base, op: "eq" }]] : [],
    others: isValue(argument, against) ? [[{ ...base, op: "ne" }]] : ALWAYS,
    edges: [against - 1n, against, against + 1n],
    ...(isValue(argument, against) && { equals: against }),
  };
}

function compareOrder(argument: Argument, index: number, op: keyof typeof OPPOSITE, against: bigint): One {
  const read = readerOf(argument);
  const compare = {
    lt: (value: bigint) => value < against,
    le: (value: bigint) => value <= against,
    gt: (value: bigint) => value > against,
    ge: (value: bigint) => value >= against,
  }[op];
  const test = (value: bigint) => compare(read(value));
  const edges = [against - 1n, against, against + 1n];
  const said = (name: ConstantTest["op"]): Cases => [
    [
      {
        arg: index,
        width: argument.width,
        op: name,
        value: against,
        ...(isSigned(argument) && { signed: true }),
      },
    ],
  ];
  if (isValue(argument, against)) return { test, cases: said(op), others: said(OPPOSITE[op]), edges };
  // A limit outside the argument's range: it holds for every value, or for none.
  const holds = compare(0n);
  return { test, cases: holds ? ALWAYS : [], others: holds ? [] : ALWAYS, edges: [] };
}

/** The widest field whose other values are listed for the filter. */
const MAX_PART = 0xfn;

/** A name from the enumeration inside a flags argument: other bits are ignored. */
function comparePart({ width }: Argument, index: number, mask: bigint, against: bigint): One {
  const isOf = (value: bigint): readonly ConstantTest[] => [{ arg: index, width, op: "masked", mask, value }];
  const values =
    mask <= MAX_PART ? Array.from({ length: Number(mask) + 1 }, (_, i) => BigInt(i)) : [0n, against];
  return {
    test: (value) => (value & mask) === against,
    cases: [isOf(against)],
    others: mask > MAX_PART ? undefined : values.filter((value) => value !== against).map(isOf),
    edges: values,
  };
}

function partOf({ flags }: Argument, operand: string): bigint | undefined {
  const { kind, enumMask = 0 } = FLAGS[flags ?? ""] ?? { kind: "enum" };
  if (kind === "enum" || enumMask === 0 || parseSize(operand) !== undefined) return undefined;
  const value = parseFlags(flags!, operand);
  return (value & ~enumMask) === 0 && !operand.includes("|") ? BigInt(enumMask >>> 0) : undefined;
}

function isSigned({ kind }: Argument): boolean {
  return (
    kind === "int" ||
    kind === "offset" ||
    kind === "fd" ||
    kind === "dirfd" ||
    kind === "pid" ||
    kind === "signal"
  );
}

/** The kernel reads 32 bits of some registers: the bits above are ignored. */
function readerOf(argument: Argument): (value: bigint) => bigint {
  const { width } = argument;
  return isSigned(argument)
    ? (value) => BigInt.asIntN(width, value)
    : (value) => BigInt.asUintN(width, value);
}

function limitsOf(argument: Argument): readonly [bigint, bigint] {
  const half = 1n << BigInt(argument.width - 1);
  return isSigned(argument) ? [-half, half - 1n] : [0n, 2n * half - 1n];
}

function isValue(argument: Argument, value: bigint): boolean {
  const [smallest, largest] = limitsOf(argument);
  return value >= smallest && value <= largest;
}

function number(argument: Argument, text: string): bigint {
  const plain = parseSize(text) ?? named(argument, text);
  const read = readerOf(argument);
  // A negative number for an unsigned argument, and 0xffffffff for a signed one, are bit patterns.
  const isPattern = isSigned(argument) ? /^0x/i.test(text) : plain < 0n;
  return isPattern && plain >> BigInt(argument.width) <= 0n ? read(plain) : plain;
}

function named(argument: Argument, text: string): bigint {
  const signal = argument.kind === "signal" ? signalNumber(text) : undefined;
  if (signal !== undefined) return BigInt(signal);
  if (argument.flags === undefined)
    throw new PatternError(
      `${argument.name} takes ${argument.kind === "signal" ? "a signal such as SIGTERM" : "a number such as 100, 0x40 or 1MB"}, not "${text}"`,
    );
  try {
    return BigInt(parseFlags(argument.flags, text));
  } catch {
    const near = suggest(text, Object.keys(FLAGS[argument.flags]?.values ?? {}));
    throw new PatternError(`${argument.name} has no value "${text}"${near ? `: did you mean ${near}?` : ""}`);
  }
}

/** One of the patterns must match, and no negated one. */
export function compareText(texts: readonly string[]): (value: string) => boolean {
  const isNegated = (text: string) => text.startsWith("!");
  const wanted = texts.filter((text) => !isNegated(text)).map(compileWord);
  const excepted = texts.filter(isNegated).map((text) => compileWord(text.replace(/^!=?\s*/, "")));
  return (value) =>
    (wanted.length === 0 || wanted.some((word) => word(value))) && !excepted.some((word) => word(value));
}
