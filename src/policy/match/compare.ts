import { type Argument, FLAGS, parseFlags, suggest } from "../../abi/index.js";
import type { ConstantTest } from "../policy.js";
import { compileWord, PatternError } from "./glob.js";
import { parseSize } from "./quantity.js";

/** A comparison of one argument: `1`, `"> 1MB"`, `"10..20"`, `AF_INET`, `"!= 0"`, or a list of which one holds. */
export interface Comparison {
  /** Of a number, as the register holds it. */
  readonly test: (value: bigint) => boolean;
  /** The same for the kernel's filter; undefined when it cannot be said there. */
  readonly constant: ConstantTest | undefined;
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

export function compareScalar(argument: Argument, index: number, texts: readonly string[]): Comparison {
  const all = texts.map((text) => compareOne(argument, index, text));
  if (all.length === 1) return all[0]!;
  const values = all.map(({ constant }) => (constant?.op === "eq" ? (constant.value as bigint) : undefined));
  const equal = values.every((value) => value !== undefined) ? (values as bigint[]) : undefined;
  return {
    test: (value) => all.some(({ test }) => test(value)),
    constant: equal && { arg: index, width: argument.width, op: "in", value: equal },
  };
}

const OPERATORS = {
  "==": "eq",
  "=": "eq",
  "!=": "ne",
  "<": "lt",
  "<=": "le",
  ">": "gt",
  ">=": "ge",
} as const;
const PATTERN = /^(==|!=|<=|>=|=|<|>)?\s*(.+)$/;

function compareOne(argument: Argument, index: number, text: string): Comparison {
  const range = /^(\S+)\s*\.\.\s*(\S+)$/.exec(text.trim());
  if (range) {
    const [from, to] = [number(argument, range[1]!), number(argument, range[2]!)];
    const signed = readerOf(argument);
    return { test: (value) => signed(value) >= from && signed(value) <= to, constant: undefined };
  }
  const [, sign, operand] = PATTERN.exec(text.trim()) ?? [];
  if (operand === undefined) throw new PatternError(`"${text}" is not a comparison`);
  const op = sign === undefined ? "eq" : OPERATORS[sign as keyof typeof OPERATORS];
  const against = number(argument, operand);
  const read = readerOf(argument);
  const base = { arg: index, width: argument.width, op, value: against };
  switch (op) {
    case "eq":
      return { test: (value) => read(value) === against, constant: base };
    case "ne":
      return { test: (value) => read(value) !== against, constant: base };
    case "lt":
      return { test: (value) => read(value) < against, constant: ordered(argument, base) };
    case "le":
      return { test: (value) => read(value) <= against, constant: ordered(argument, base) };
    case "gt":
      return { test: (value) => read(value) > against, constant: ordered(argument, base) };
    case "ge":
      return { test: (value) => read(value) >= against, constant: ordered(argument, base) };
  }
}

/** The filter compares without a sign: what may be negative is compared here. */
function ordered(argument: Argument, test: ConstantTest): ConstantTest | undefined {
  return isSigned(argument) || (test.value as bigint) < 0n ? undefined : test;
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

/** The kernel looks at 32 bits of some registers: what is above them means nothing. */
function readerOf(argument: Argument): (value: bigint) => bigint {
  const { width } = argument;
  return isSigned(argument)
    ? (value) => BigInt.asIntN(width, value)
    : (value) => BigInt.asUintN(width, value);
}

function number(argument: Argument, text: string): bigint {
  const size = parseSize(text);
  const plain = size ?? named(argument, text);
  return isSigned(argument) ? plain : BigInt.asUintN(argument.width, plain);
}

function named(argument: Argument, text: string): bigint {
  if (argument.flags === undefined)
    throw new PatternError(
      `${argument.name} is compared with a number such as 100, 0x40 or 1MB, not with "${text}"`,
    );
  try {
    return BigInt(parseFlags(argument.flags, text));
  } catch {
    const near = suggest(text, Object.keys(FLAGS[argument.flags]?.values ?? {}));
    throw new PatternError(`${argument.name} has no value "${text}"${near ? `: did you mean ${near}?` : ""}`);
  }
}

export function compareText(texts: readonly string[]): (value: string) => boolean {
  const words = texts.map((text) =>
    text.startsWith("!")
      ? (
          (not) => (value: string) =>
            !not(value)
        )(compileWord(text.slice(1)))
      : compileWord(text),
  );
  return (value) => words.some((word) => word(value));
}
