import {
  CLASSES,
  errnoNumber,
  parseFlags,
  SYSCALLS,
  type Syscall,
  type SyscallArguments,
  type SyscallName,
  suggest,
  syscallByName,
  syscallsOfClass,
} from "../abi/index.js";
import { HermesError } from "../errors.js";
import type {
  CallEvent,
  FunctionEvent,
  FunctionReturnEvent,
  InstructionEvent,
  ReturnEvent,
} from "../event.js";
import { ACTIONS, type Action, type Verdict } from "../verdict.js";
import { checkAnswer, stricterOf } from "./answer.js";
import { type FunctionPattern, namesFunction, parseFunctionPattern } from "./function-pattern.js";
import { type InstructionPattern, namesInstruction, parseInstructionPattern } from "./instruction-pattern.js";
import type {
  ConstantRule,
  ConstantTest,
  FunctionInterest,
  InstructionInterest,
  Interest,
  Policy,
  PolicyFence,
} from "./policy.js";

// biome-ignore lint/suspicious/noConfusingVoidType: a handler that just ends has nothing to say
export type Answer = Verdict | undefined | void;

/**
 * Handlers by syscall name, by class (`%file`, `%network` …), or `*` for every call; by `module!function` for functions
 * inside the program (function-pattern.ts), by `instruction:what` for its instructions (instruction-pattern.ts). All
 * that fit are asked.
 */
export type EntryHandlers = { [Name in SyscallName]?: (event: CallEvent<Name>) => Answer } & {
  [cls: `%${string}`]: (event: CallEvent) => Answer;
} & { "*"?: (event: CallEvent) => Answer } & {
  [fn: `${string}!${string}`]: (event: FunctionEvent) => Answer;
} & { [instruction: `instruction:${string}`]: (event: InstructionEvent) => Answer };

export type ReturnHandlers = { [Name in SyscallName]?: (event: ReturnEvent<Name>) => Answer } & {
  [cls: `%${string}`]: (event: ReturnEvent) => Answer;
} & { "*"?: (event: ReturnEvent) => Answer } & {
  [fn: `${string}!${string}`]: (event: FunctionReturnEvent) => Answer;
};

export interface PolicySpec {
  readonly name: string;
  /** Asked before the call happens. */
  readonly on?: EntryHandlers;
  /** Asked after it has happened, with its result. */
  readonly returns?: ReturnHandlers;
  /** Refusals on constant arguments, decided in the kernel without stopping the program. */
  readonly rules?: readonly RuleSpec[];
  /**
   * What the handlers may answer besides allow. A policy that only ever denies is served by the notify door, which
   * is faster and leaves ptrace to the program; one that says nothing here may answer anything.
   */
  readonly actions?: readonly Action[];
  /** Its handlers look at stacks or registers, which takes the trace door whatever they answer. */
  readonly inside?: boolean;
  /**
   * Only calls with these register arguments are stopped, the others go on untouched:
   * `{ clock_gettime: { which_clock: "CLOCK_REALTIME" } }`. Of a list, one must hold.
   */
  readonly only?: { readonly [Name in SyscallName]?: Where<Name> | readonly Where<Name>[] };
  /** Protections without which a run must not start: names of src/protection.ts. */
  readonly requires?: readonly string[];
  /** What it asks of the fence around the program. */
  readonly fence?: PolicyFence;
  /** Files with prototypes of the functions it speaks of (docs/prototypes.md), from its own folder. */
  readonly prototypes?: readonly string[];
}

/** Constant tests on arguments: `{ family: "AF_INET" }`, `{ prot: { all: "PROT_WRITE|PROT_EXEC" } }`. */
export type Where<Name extends SyscallName> = { readonly [A in ArgumentName<Name>]?: Value | Comparison };

type ArgumentName<Name extends SyscallName> = keyof SyscallArguments[Name] & string;
type Value = number | bigint | string;
export type Comparison =
  | { eq: Value }
  | { ne: Value }
  | { lt: Value }
  | { le: Value }
  | { gt: Value }
  | { ge: Value }
  | { in: readonly Value[] }
  | { all: Value }
  | { none: Value };

export type RuleSpec<Name extends SyscallName = SyscallName> = Name extends SyscallName
  ? {
      readonly id: string;
      readonly deny?: Name | `%${string}`;
      readonly kill?: Name | `%${string}`;
      readonly where?: Where<Name>;
      readonly errno?: string | number;
      readonly reason?: string;
    }
  : never;

const EVERYTHING: ReadonlySet<Action> = new Set(ACTIONS);

/** The policy in memory. The loader gives it its version and file. */
export interface DefinedPolicy extends Policy {
  readonly spec: PolicySpec;
}

export function definePolicy(spec: PolicySpec): DefinedPolicy {
  if (typeof spec !== "object" || spec === null || typeof spec.name !== "string" || spec.name === "")
    throw invalid("(unnamed)", "definePolicy needs an object with a name");
  const actions = checkActions(spec);
  const entries = collect(spec, "on");
  const returns = collect(spec, "returns");
  const named = namedCalls(spec);
  const only = narrowed(spec, entries, returns);
  const calls = new Map<number, Interest>();
  for (const nr of new Set([...entries.keys(), ...returns.keys()]))
    calls.set(nr, {
      entry: entries.has(nr),
      returns: returns.has(nr),
      actions,
      ...(spec.inside && { inside: true as const }),
      ...(named.has(nr) && { named: true }),
      ...(only.has(nr) && { when: only.get(nr)! }),
    });
  const functions = collectFunctions(spec, actions);
  const instructions = collectInstructions(spec, actions);
  const constants = (spec.rules ?? []).flatMap((rule) => constantRules(spec.name, rule as LooseRule));
  return {
    spec,
    name: spec.name,
    version: "unversioned",
    ...(spec.requires && { requires: spec.requires }),
    ...(spec.fence && { fence: spec.fence }),
    ...(spec.prototypes && { prototypes: spec.prototypes }),
    subscription: {
      calls,
      constants,
      ...(functions.length > 0 && { functions: functions.map(({ interest }) => interest) }),
      ...(instructions.length > 0 && { instructions: instructions.map(({ interest }) => interest) }),
    },
    decide: (event) => answerOf(spec.name, entries.get(event.nr), event),
    decideReturn: (event) => answerOf(spec.name, returns.get(event.nr), event),
    decideFunction: (event, { index }) =>
      checkAnswer(functions[index]!.handlers[event.kind]?.(event as never)),
    decideInstruction: (event, { index }) => checkAnswer(instructions[index]!.handler(event as never)),
  };
}

type Handler = (event: never) => Answer;

/** Every handler that fits is asked, and the strictest answer is the policy's. */
function answerOf(
  policy: string,
  handlers: Handler[] | undefined,
  event: CallEvent | ReturnEvent,
): Verdict | undefined {
  if (!handlers) return undefined;
  let settled: Verdict | undefined;
  for (const handler of handlers) {
    const answer = checkAnswer(handler(event as never));
    if (answer) settled = stricterOf(settled, answer, () => [policy, policy, event.name]);
  }
  return settled;
}

function invalid(policy: string, message: string): HermesError {
  return new HermesError("POLICY_INVALID", { file: policy, message });
}

function checkActions(spec: PolicySpec): ReadonlySet<Action> {
  if (spec.actions === undefined) return EVERYTHING;
  for (const action of spec.actions)
    if (!ACTIONS.includes(action))
      throw invalid(spec.name, `unknown action "${action}"${didYouMean(action, ACTIONS)}`);
  return new Set(["allow", ...spec.actions]);
}

function didYouMean(word: string, candidates: readonly string[]): string {
  const near = suggest(word, candidates);
  return near ? `: did you mean "${near}"?` : "";
}

function collect(spec: PolicySpec, part: "on" | "returns"): Map<number, Handler[]> {
  const found = new Map<number, Handler[]>();
  for (const [key, handler] of Object.entries(spec[part] ?? {})) {
    if (typeof handler !== "function") throw invalid(spec.name, `${part}.${key} is not a function`);
    if (namesInside(key)) continue;
    for (const call of callsNamed(spec.name, key))
      found.set(call.nr, [...(found.get(call.nr) ?? []), handler as Handler]);
  }
  return found;
}

/** Calls that a handler names, itself or by class. */
function namedCalls(spec: PolicySpec): Set<number> {
  const keys = [...Object.keys(spec.on ?? {}), ...Object.keys(spec.returns ?? {})];
  const named = keys.filter((key) => key !== "*" && !namesInside(key));
  return new Set(named.flatMap((key) => callsNamed(spec.name, key).map(({ nr }) => nr)));
}

/** What `only` says of each call. */
function narrowed(
  spec: PolicySpec,
  ...handled: readonly ReadonlyMap<number, unknown>[]
): Map<number, readonly (readonly ConstantTest[])[]> {
  const found = new Map<number, readonly (readonly ConstantTest[])[]>();
  for (const [name, where] of Object.entries(spec.only ?? {})) {
    const [call] = callsNamed(spec.name, name);
    if (!handled.some((handlers) => handlers.has(call!.nr)))
      throw invalid(spec.name, `only.${name}: no handler is asked about ${name}`);
    const sets = (Array.isArray(where) ? where : [where]) as readonly Record<string, Value | Comparison>[];
    found.set(
      call!.nr,
      sets.map((set) =>
        Object.entries(set).map(([argument, test]) =>
          constantTest(spec.name, `only.${name}`, call!, argument, test),
        ),
      ),
    );
  }
  return found;
}

interface FunctionHandlers {
  readonly interest: FunctionInterest;
  readonly handlers: { function?: Handler; "function-return"?: Handler };
}

function collectFunctions(spec: PolicySpec, actions: ReadonlySet<Action>): FunctionHandlers[] {
  const patterns = new Set([...Object.keys(spec.on ?? {}), ...Object.keys(spec.returns ?? {})]);
  return [...patterns]
    .filter((key) => namesFunction(key) && !namesInstruction(key))
    .map((key, index) => {
      const entry = (spec.on as Record<string, Handler> | undefined)?.[key];
      const returns = (spec.returns as Record<string, Handler> | undefined)?.[key];
      const pattern = readPattern(spec.name, key);
      const interest = {
        pattern,
        entry: entry !== undefined,
        returns: returns !== undefined,
        actions,
        index,
      };
      return {
        interest,
        handlers: { ...(entry && { function: entry }), ...(returns && { "function-return": returns }) },
      };
    });
}

interface InstructionHandler {
  readonly interest: InstructionInterest;
  readonly handler: Handler;
}

function collectInstructions(spec: PolicySpec, actions: ReadonlySet<Action>): InstructionHandler[] {
  for (const key of Object.keys(spec.returns ?? {}).filter(namesInstruction))
    throw invalid(
      spec.name,
      `returns.${key}: an instruction is decided on before it runs: put it under \`on\``,
    );
  return Object.entries(spec.on ?? {})
    .filter(([key]) => namesInstruction(key))
    .map(([key, handler], index) => ({
      interest: { ...readInstruction(spec.name, key), actions, index },
      handler: handler as Handler,
    }));
}

export function readInstruction(policy: string, key: string): InstructionPattern {
  try {
    return parseInstructionPattern(key);
  } catch (error) {
    throw invalid(policy, (error as Error).message);
  }
}

/** Whether a key is about what happens inside the program, not about a system call. */
function namesInside(key: string): boolean {
  return namesFunction(key) || namesInstruction(key);
}

export function readPattern(policy: string, key: string): FunctionPattern {
  try {
    return parseFunctionPattern(key);
  } catch (error) {
    throw invalid(policy, (error as Error).message);
  }
}

/** A syscall by name, `%class`, or `*`. */
export function callsNamed(policy: string, key: string): readonly Syscall[] {
  if (key === "*") return SYSCALLS;
  if (key.startsWith("%")) {
    const calls = syscallsOfClass(key.slice(1));
    const names = Object.keys(CLASSES);
    if (calls.length === 0) throw invalid(policy, `unknown class "${key}"${didYouMean(key.slice(1), names)}`);
    return calls;
  }
  const call = syscallByName(key);
  if (!call)
    throw invalid(
      policy,
      `unknown system call "${key}"${didYouMean(
        key,
        SYSCALLS.map((c) => c.name),
      )}`,
    );
  return [call];
}

// ---------------------------------------------------------------- constant rules

/** A rule before its names have been checked: what other languages than TypeScript give. */
export interface LooseRule {
  readonly id: string;
  readonly deny?: string;
  readonly kill?: string;
  readonly where?: Readonly<Record<string, Value | Comparison>>;
  readonly errno?: string | number;
  readonly reason?: string;
}

/** The rule for each call that it names, ready for the filter. Throws when a name in it is not known. */
export function constantRules(policy: string, rule: LooseRule): ConstantRule[] {
  const target = rule.deny ?? rule.kill;
  if (!rule.id || target === undefined || (rule.deny !== undefined && rule.kill !== undefined))
    throw invalid(policy, `a rule needs an id and either deny or kill: ${JSON.stringify(rule)}`);
  const errno =
    rule.errno === undefined ? 13 : typeof rule.errno === "number" ? rule.errno : errnoNumber(rule.errno);
  if (errno === undefined || errno < 1 || errno > 4095)
    throw invalid(policy, `rule ${rule.id}: unknown errno "${rule.errno}"`);
  return callsNamed(policy, target).map((call) => ({
    id: rule.id,
    nr: call.nr,
    tests: Object.entries(rule.where ?? {}).map(([name, test]) =>
      constantTest(policy, rule.id, call, name, test),
    ),
    action: rule.deny !== undefined ? "deny" : "kill",
    errno,
    ...(rule.reason !== undefined && { reason: rule.reason }),
  }));
}

function constantTest(
  policy: string,
  id: string,
  call: Syscall,
  name: string,
  test: Value | Comparison,
): ConstantTest {
  const arg = call.args.findIndex((a) => a.name === name);
  const argument = call.args[arg];
  if (!argument) {
    const names = call.args.map((a) => a.name);
    throw invalid(
      policy,
      `rule ${id}: ${call.name} has no argument "${name}"${didYouMean(name, names)} (it has: ${names.join(", ")})`,
    );
  }
  const constant = (value: Value): bigint => {
    if (typeof value === "bigint") return value;
    if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
    if (typeof value !== "string" || argument.flags === undefined)
      throw invalid(
        policy,
        `rule ${id}: ${call.name}.${name} is compared with a whole number, not with "${value}"`,
      );
    try {
      return BigInt(parseFlags(argument.flags, value));
    } catch (cause) {
      throw invalid(policy, `rule ${id}: ${call.name}.${name}: ${(cause as Error).message}`);
    }
  };
  const base = { arg, width: argument.width };
  if (typeof test !== "object") return { ...base, op: "eq", value: constant(test) };
  const [op, value] = Object.entries(test)[0] ?? [];
  switch (op) {
    case "eq":
    case "ne":
    case "lt":
    case "le":
    case "gt":
    case "ge":
      return { ...base, op, value: constant(value as Value) };
    case "in":
      return { ...base, op, value: (value as readonly Value[]).map(constant) };
    case "all":
      return { ...base, op: "masked", mask: constant(value as Value), value: constant(value as Value) };
    case "none":
      return { ...base, op: "masked", mask: constant(value as Value), value: 0n };
    default:
      throw invalid(
        policy,
        `rule ${id}: unknown comparison "${op}"${didYouMean(String(op), ["eq", "ne", "lt", "le", "gt", "ge", "in", "all", "none"])}`,
      );
  }
}
