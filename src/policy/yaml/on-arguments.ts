import { type Argument, rereadOf, type Syscall, suggest } from "../../abi/index.js";
import { allCases, type Cases, type Sense } from "../match/cases.js";
import { type Comparison, compareScalar, compareText, isScalar } from "../match/compare.js";
import { compareBits, type FlagNames, flagsArgument } from "../match/flags.js";
import { PatternError } from "../match/glob.js";
import type { RuleCondition, RuleInput } from "./rule.js";

interface ArgumentTest {
  readonly index: number;
  readonly argument: Argument;
  readonly scalar?: Comparison;
  readonly text?: (value: string) => boolean;
  /** The flags inside a struct (openat2), which the event holds. */
  readonly ofStruct?: true;
}

/** What an argument is compared with: values, or bits. */
type WantedValue = readonly string[] | FlagNames;
export type WantedArguments = Readonly<Record<string, WantedValue>>;

/** Reads a value, a list of values, or bits. `texts` returns a place's text as written. */
export function wantedOf(
  name: string,
  value: unknown,
  texts: (steps: string[], value: unknown) => string[],
): WantedValue {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return texts([], value);
  const lists = value as Partial<Record<keyof FlagNames, unknown[]>>;
  const list = (word: keyof FlagNames) => (lists[word] === undefined ? [] : texts([word], lists[word]));
  const bits: FlagNames = { all: list("all"), any: list("any"), none: list("none") };
  if (bits.all.length + bits.any.length + bits.none.length === 0)
    throw new PatternError(`\`${name}\` names no bits: write { all: [...] }, any or none`);
  return bits;
}

/** Comparisons of arguments by name. A call without such an argument does not match. */
export function onArguments(where: WantedArguments, calls: readonly Syscall[]): RuleCondition {
  const byCall = new Map<number, ArgumentTest[]>();
  let wrong: unknown;
  for (const call of calls) {
    try {
      const tests = Object.entries(where).map(([name, wanted]) => argumentTest(call, name, wanted));
      if (tests.every((test) => test !== undefined)) byCall.set(call.nr, tests as ArgumentTest[]);
    } catch (error) {
      // A call whose argument has no such name cannot have it; a name that no call has is an error.
      if (!(error instanceof PatternError)) throw error;
      wrong ??= error;
    }
  }
  if (byCall.size === 0) throw wrong ?? new PatternError(noSuchArgument(where, calls));
  return {
    key: "where",
    holds: (input) => byCall.get(input.call.nr)?.every((test) => holdsForArgument(test, input)) ?? false,
    tell: ({ call }) =>
      byCall.has(call.nr)
        ? `${Object.keys(where).join(", ")} is not ${Object.values(where).map(wantedText).join(", ")}`
        : `${call.name} has no argument ${Object.keys(where).join(", ")}`,
    constants: (call) => constantsOf(byCall.get(call.nr)),
    sense: (call) => jointSense(byCall.get(call.nr)?.map(({ scalar }) => scalar?.sense)),
  };
}

/** A call without such an argument never matches, and so has no cases. */
function constantsOf(tests: readonly ArgumentTest[] | undefined): Cases | undefined {
  return tests ? allCases(tests.map(({ scalar, ofStruct }) => (ofStruct ? undefined : scalar?.cases))) : [];
}

/** The sense of conditions that must all hold. */
export function jointSense(senses: readonly (Sense | undefined)[] = ["never"]): Sense {
  if (senses.includes("never")) return "never";
  return senses.every((sense) => sense === "always") ? "always" : "sometimes";
}

function isBits(wanted: WantedValue): wanted is FlagNames {
  return !Array.isArray(wanted);
}

export function wantedText(wanted: WantedValue): string {
  if (!isBits(wanted)) return wanted.join(", ");
  const parts = Object.entries(wanted).filter(([, names]) => names.length > 0);
  return parts.map(([word, names]) => `${word} of ${names.join(", ")}`).join(" and ");
}

function argumentTest(call: Syscall, name: string, wanted: WantedValue): ArgumentTest | undefined {
  const index = call.args.findIndex((argument) => argument.name === name);
  const argument = call.args[index];
  if (!argument) return name === "flags" ? structTest(call, wanted) : undefined;
  if (isScalar(argument)) return { index, argument, scalar: compareWanted(argument, index, wanted) };
  if (isBits(wanted)) throw new PatternError(`${call.name}.${name} is not a number, and has no bits`);
  if (argument.kind === "string" || argument.kind === "path") {
    if (rereadOf(call) === "data")
      throw new PatternError(
        `${call.name} reads the text of \`${name}\` again after the decision, and another thread may have changed it by then: a rule on it cannot be enforced`,
      );
    return { index, argument, text: compareText(wanted) };
  }
  throw new PatternError(`${call.name}.${name} is neither a number nor a text, and cannot be compared`);
}

export function compareWanted(argument: Argument, index: number, wanted: WantedValue): Comparison {
  return isBits(wanted) ? compareBits(argument, index, wanted) : compareScalar(argument, index, wanted);
}

/** openat2 has its flags in a struct: using it must not bypass a rule on flags. */
function structTest(call: Syscall, wanted: WantedValue): ArgumentTest | undefined {
  const found = flagsArgument(call);
  if (found?.argument.kind !== "struct") return undefined;
  const argument: Argument = { name: "flags", kind: "flags", width: 64, flags: found.table };
  return {
    index: found.index,
    argument,
    scalar: compareWanted(argument, found.index, wanted),
    ofStruct: true,
  };
}

function holdsForArgument(
  { index, argument, scalar, text, ofStruct }: ArgumentTest,
  { event, bits }: RuleInput,
): boolean {
  if (scalar) return scalar.test(ofStruct ? BigInt(bits >>> 0) : event.argument(index));
  const value = (event.args as Readonly<Record<string, unknown>>)[argument.name];
  return typeof value === "string" && text!(value);
}

function noSuchArgument(where: Readonly<Record<string, unknown>>, calls: readonly Syscall[]): string {
  const known = new Set(calls.flatMap((call) => call.args.map(({ name }) => name)));
  const missing = Object.keys(where).find((name) => !known.has(name));
  if (missing === undefined) return `no call of this rule has all of ${Object.keys(where).join(", ")}`;
  const near = suggest(missing, known);
  return `no call of this rule has an argument "${missing}"${near ? `: did you mean "${near}"?` : ` (known: ${[...known].slice(0, 20).join(", ")})`}`;
}
