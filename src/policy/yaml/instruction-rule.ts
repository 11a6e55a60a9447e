import { signalNumber, suggest } from "../../abi/index.js";
import type { InstructionEvent } from "../../nouns/event.js";
import type { Fault, RegisterValues, Verdict } from "../../nouns/verdict.js";
import type { YamlPath } from "../../nouns/yaml/source.js";
import { FEATURE_NAMES, type Feature, featureNamed, withoutFeatures } from "../cpu-features.js";
import { type InstructionPattern, parseInstructionPattern } from "../instruction-pattern.js";
import { PatternError } from "../match/glob.js";
import { compilePaths, matchPaths, type PathList } from "../match/path.js";
import { parseDuration } from "../match/quantity.js";
import { ACTION_KEYS, type ActionKey } from "./action.js";
import type { Compilation } from "./compilation.js";
import type { RuleSpec } from "./schema.js";

/** A rule on instructions: `emulate: rdtsc`, `modify: cpuid`, `deny: "instruction:int 0x80"`. */
export interface InstructionRule {
  readonly id: string;
  /** file:line:column */
  readonly at: string;
  readonly key: ActionKey;
  readonly spec: RuleSpec;
  readonly patterns: readonly InstructionPattern[];
  /** The reason why it does not match; undefined when it does. */
  whyNot(event: Pick<InstructionEvent, "leaf" | "subleaf" | "process">): string | undefined;
  /** Undefined when it would change nothing. */
  answer(event: InstructionEvent): Verdict | undefined;
}

/** Instructions that can be named without `instruction:`, because their names are unambiguous. */
const PLAIN: ReadonlySet<string> = new Set(["rdtsc", "rdtscp", "cpuid", "rdrand", "rdseed", "rdpmc"]);
const KEY = "instruction:";
/** The keys that a rule on instructions accepts besides its action. */
const TAKES: ReadonlySet<string> = new Set<keyof RuleSpec>([
  ...(["id", "reason", "examples", "process", "leaf", "subleaf"] as const),
  ...(["value", "registers", "clear", "delay", "signal"] as const),
]);
const REGISTER = /^([re]?[abcd]x|[re]?(si|di|bp|sp)|r(8|9|1[0-5])d?|rflags|eflags)$/;

const namesOf = (spec: RuleSpec) =>
  ACTION_KEYS.flatMap((key) => (spec[key] === undefined ? [] : [spec[key]].flat()));
const isName = (name: string) => PLAIN.has(name) || name.startsWith(KEY);

export function isAboutInstructions(spec: RuleSpec): boolean {
  return namesOf(spec).some(isName);
}

export function compileInstructionRule(spec: RuleSpec, place: YamlPath, c: Compilation): InstructionRule {
  const fail = (key: string, message: string, cause?: unknown) =>
    c.source.error([...place, key], `rule ${spec.id}: ${message}`, { cause });
  const [key, another] = ACTION_KEYS.filter((action) => spec[action] !== undefined);
  if (!key || another) throw c.source.error(place, "a rule has one action");
  for (const given of Object.keys(spec))
    if (given !== key && !TAKES.has(given))
      throw fail(given, `\`${given}\` cannot be used in a rule on instructions`);
  const attempt = <T>(at: string, act: () => T): T => {
    try {
      return act();
    } catch (error) {
      throw error instanceof AnswerAt
        ? fail(error.key, error.message, error)
        : fail(at, (error as Error).message, error);
    }
  };
  const patterns = attempt(key, () => namesOf(spec).map(patternOf));
  const exe = attempt("process", () => programs(spec, c));
  return {
    id: spec.id,
    at: c.source.at(place),
    key,
    spec,
    patterns,
    whyNot: (event) => whyNot(spec, exe, event),
    answer: attempt(key, () => answerOf(key, spec, patterns)),
  };
}

function patternOf(name: string): InstructionPattern {
  if (!isName(name))
    throw new PatternError(
      `"${name}" is not an instruction: a rule is about instructions or about calls, not both`,
    );
  return parseInstructionPattern(name.startsWith(KEY) ? name : `${KEY}${name}`);
}

function programs({ process }: RuleSpec, { variables }: Compilation): PathList | undefined {
  if (process === undefined) return undefined;
  const { exe, ...others } = typeof process === "string" ? { exe: process } : process;
  if (exe === undefined || Object.keys(others).length > 0)
    throw new PatternError(
      "in a rule on instructions, `process` takes only the program: { exe: /usr/bin/app }",
    );
  return compilePaths([exe].flat().map(String), (text) => variables.paths(text, false));
}

function whyNot(
  { leaf, subleaf }: RuleSpec,
  exe: PathList | undefined,
  event: Pick<InstructionEvent, "leaf" | "subleaf" | "process">,
): string | undefined {
  if (leaf !== undefined && !numbers(leaf).includes(event.leaf ?? -1))
    return `leaf: the leaf is ${event.leaf === undefined ? "none" : `0x${event.leaf.toString(16)}`}`;
  if (subleaf !== undefined && !numbers(subleaf).includes(event.subleaf ?? -1))
    return `subleaf: the subleaf is ${event.subleaf ?? "none"}`;
  if (exe && !matchPaths(exe, event.process.exe)) return `process: the program is ${event.process.exe}`;
  return undefined;
}

const numbers = (given: number | string | readonly (number | string)[]) => [given].flat().map(Number);

// ---------------------------------------------------------------- answers

/** Thrown with the key that is wrong. */
class AnswerAt extends PatternError {
  readonly key: string;
  constructor(key: string, message: string) {
    super(message);
    this.key = key;
  }
}

type Answer = InstructionRule["answer"];

function answerOf(key: ActionKey, spec: RuleSpec, patterns: readonly InstructionPattern[]): Answer {
  const base = { rule: spec.id, ...(spec.reason !== undefined && { reason: spec.reason }) };
  checkKeys(key, spec, patterns);
  switch (key) {
    case "allow":
    case "kill":
    case "deny":
      return () => ({ action: key, ...base });
    case "watch":
      return () => ({ action: "allow", watched: true, ...base });
    case "ask":
      if (spec.reason === undefined)
        throw new AnswerAt("ask", "`ask` needs a `reason`: the approver sees it");
      return () => ({ action: "ask", ...base });
    case "fault": {
      const fault = faultOf(spec);
      return () => ({ action: "fault", fault, ...base });
    }
    case "emulate": {
      const registers = registersOf(spec);
      const result = spec.value === undefined ? 0n : wholeNumber("value", spec.value);
      const emulation = { result, ...(registers && { registers }) };
      return () => ({ action: "emulate", emulation, ...base });
    }
    case "modify":
      return modifyAnswer(spec, base);
    default:
      throw new AnswerAt(key, "an instruction cannot be redirected");
  }
}

function checkKeys(key: ActionKey, spec: RuleSpec, patterns: readonly InstructionPattern[]): void {
  const goesWith: Readonly<Record<string, readonly ActionKey[]>> = {
    value: ["emulate", "modify"],
    registers: ["emulate", "modify"],
    clear: ["modify"],
    delay: ["fault"],
    signal: ["fault"],
  };
  for (const [name, actions] of Object.entries(goesWith))
    if (spec[name as keyof RuleSpec] !== undefined && !actions.includes(key))
      throw new AnswerAt(
        name,
        `\`${name}\` does not go with \`${key}\` (it goes with ${actions.join(", ")})`,
      );
  const only = patterns.find(({ name }) => name !== "cpuid")?.name;
  for (const name of ["leaf", "subleaf", "clear"] as const)
    if (spec[name] !== undefined && only !== undefined)
      throw new AnswerAt(name, `only cpuid has a \`${name}\`, ${only} has none`);
}

function modifyAnswer(spec: RuleSpec, base: Pick<Verdict, "rule" | "reason">): Answer {
  const registers = registersOf(spec);
  const result = spec.value === undefined ? undefined : wholeNumber("value", spec.value);
  const features = featuresOf(spec);
  if (!registers && result === undefined && features.length === 0)
    throw new AnswerAt("modify", "`modify` needs `value`, `registers` or `clear`");
  return (event) => {
    const cleared = features.length > 0 ? withoutFeatures(event, features) : undefined;
    const all = { ...cleared, ...registers };
    if (result === undefined && Object.keys(all).length === 0) return undefined;
    return { action: "modify", change: { registers: all, ...(result !== undefined && { result }) }, ...base };
  };
}

function faultOf({ delay, signal }: RuleSpec): Fault {
  if (delay === undefined && signal === undefined)
    throw new AnswerAt("fault", "a fault of an instruction takes `signal` or `delay`");
  const milliseconds = delay === undefined ? undefined : parseDuration(String(delay));
  if (delay !== undefined && milliseconds === undefined)
    throw new AnswerAt("delay", `"${delay}" is not a duration such as 20ms or 1.5s`);
  if (signal !== undefined && signalNumber(String(signal)) === undefined)
    throw new AnswerAt("signal", `unknown signal "${signal}"`);
  return {
    ...(milliseconds !== undefined && { delay: milliseconds }),
    ...(signal !== undefined && { signal: String(signal) }),
  };
}

function registersOf({ registers }: RuleSpec): RegisterValues | undefined {
  if (registers === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(registers).map(([name, value]) => {
      if (!REGISTER.test(name)) throw new AnswerAt("registers", `unknown register "${name}"`);
      return [name, wholeNumber("registers", value)];
    }),
  );
}

function wholeNumber(key: string, value: number | string): bigint {
  try {
    return BigInt(typeof value === "string" ? value.replaceAll("_", "") : value);
  } catch {
    throw new AnswerAt(key, `"${value}" is not a whole number`);
  }
}

/** Names of features, or register bits of the rule's leaf. */
function featuresOf({ clear, leaf }: RuleSpec): Feature[] {
  if (clear === undefined) return [];
  if (Array.isArray(clear)) return clear.map((name) => named(String(name)));
  return Object.entries(clear).flatMap(([register, bits]) => {
    if (!/^e[abcd]x$/.test(register))
      throw new AnswerAt("clear", `cpuid returns eax, ebx, ecx and edx, not ${register}`);
    return [bits].flat().flatMap((bit): Feature[] => {
      if (typeof bit === "string") return [named(bit)];
      if (leaf === undefined)
        throw new AnswerAt("clear", `\`clear\` names bit ${bit} of ${register}: add the \`leaf\``);
      return numbers(leaf).map((of) => ({ leaf: of, register: register as Feature["register"], bit }));
    });
  });
}

function named(name: string): Feature {
  const feature = featureNamed(name.toLowerCase().replaceAll(".", "_"));
  if (feature) return feature;
  const near = suggest(name, FEATURE_NAMES);
  throw new AnswerAt("clear", `unknown feature "${name}"${near ? `: did you mean ${near}?` : ""}`);
}
