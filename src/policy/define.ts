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
import { HermesError } from "../nouns/errors.js";
import type {
  CallEvent,
  FunctionEvent,
  FunctionReturnEvent,
  InstructionEvent,
  ReturnEvent,
} from "../nouns/event.js";
import { VERDICT_ACTIONS, type Verdict, type VerdictAction } from "../nouns/verdict.js";
import { checkVerdict, stricterVerdict } from "./check-verdict.js";
import { type FunctionPattern, namesFunction, parseFunctionPattern } from "./function-pattern.js";
import { type InstructionPattern, namesInstruction, parseInstructionPattern } from "./instruction-pattern.js";
import type {
  CallSubscription,
  ConstantRule,
  ConstantTest,
  FunctionSubscription,
  InstructionSubscription,
  Policy,
  PolicyFence,
} from "./policy.js";

// biome-ignore lint/suspicious/noConfusingVoidType: a handler that just ends has nothing to say
type HandlerResult = Verdict | undefined | void;

/**
 * Handlers by syscall name, by class (`%file`, `%network` …), or `*` for every call; by `module!function` for
 * functions inside the program (function-pattern.ts), by `instruction:what` for its instructions
 * (instruction-pattern.ts). All matching handlers run.
 */
export type EntryHandlers = { [Name in SyscallName]?: (event: CallEvent<Name>) => HandlerResult } & {
  [cls: `%${string}`]: (event: CallEvent) => HandlerResult;
} & { "*"?: (event: CallEvent) => HandlerResult } & {
  [fn: `${string}!${string}`]: (event: FunctionEvent) => HandlerResult;
} & { [instruction: `instruction:${string}`]: (event: InstructionEvent) => HandlerResult };

export type ReturnHandlers = { [Name in SyscallName]?: (event: ReturnEvent<Name>) => HandlerResult } & {
  [cls: `%${string}`]: (event: ReturnEvent) => HandlerResult;
} & { "*"?: (event: ReturnEvent) => HandlerResult } & {
  [fn: `${string}!${string}`]: (event: FunctionReturnEvent) => HandlerResult;
};

export interface PolicySpec {
  readonly name: string;
  /** Run before the call happens. */
  readonly on?: EntryHandlers;
  /** Run after the call has happened, with its result. */
  readonly returns?: ReturnHandlers;
  /** Refusals by constant arguments, decided in the kernel without stopping the program. */
  readonly rules?: readonly ConstantRuleSpec[];
  /**
   * The actions that handlers may return besides allow. A policy that only denies is served by the notify
   * door, which is faster and leaves ptrace to the program. Without this list, any action is possible.
   */
  readonly actions?: readonly VerdictAction[];
  /** Its handlers read stacks or registers, which always needs the trace door. */
  readonly inside?: boolean;
  /**
   * Stop only calls with these register arguments:
   * `{ clock_gettime: { which_clock: "CLOCK_REALTIME" } }`. Of a list, one must match.
   */
  readonly only?: { readonly [Name in SyscallName]?: ArgumentTests<Name> | readonly ArgumentTests<Name>[] };
  /** Protections that the run requires: names of src/nouns/protection.ts. */
  readonly requires?: readonly string[];
  /** What the policy asks of the fence. */
  readonly fence?: PolicyFence;
  /** Files with prototypes of its functions (docs/reference/prototypes.md), relative to its own folder. */
  readonly prototypes?: readonly string[];
}

/** Constant tests on arguments: `{ family: "AF_INET" }`, `{ prot: { all: "PROT_WRITE|PROT_EXEC" } }`. */
type ArgumentTests<Name extends SyscallName> = {
  readonly [A in ArgumentName<Name>]?: Value | ArgumentComparison;
};

type ArgumentName<Name extends SyscallName> = keyof SyscallArguments[Name] & string;
type Value = number | bigint | string;
type ArgumentComparison =
  | { eq: Value }
  | { ne: Value }
  | { lt: Value }
  | { le: Value }
  | { gt: Value }
  | { ge: Value }
  | { in: readonly Value[] }
  | { all: Value }
  | { none: Value };

type ConstantRuleSpec<Name extends SyscallName = SyscallName> = Name extends SyscallName
  ? {
      readonly id: string;
      readonly deny?: Name | `%${string}`;
      readonly kill?: Name | `%${string}`;
      readonly where?: ArgumentTests<Name>;
      readonly errno?: string | number;
      readonly reason?: string;
    }
  : never;

const EVERYTHING: ReadonlySet<VerdictAction> = new Set(VERDICT_ACTIONS);

/** The policy in memory. The loader adds its version and file. */
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
  const calls = new Map<number, CallSubscription>();
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
      ...(functions.length > 0 && { functions: functions.map(({ subscription }) => subscription) }),
      ...(instructions.length > 0 && { instructions: instructions.map(({ subscription }) => subscription) }),
    },
    decide: (event) => answerOf(spec.name, entries.get(event.nr), event),
    decideReturn: (event) => answerOf(spec.name, returns.get(event.nr), event),
    decideFunction: (event, { index }) =>
      checkVerdict(functions[index]!.handlers[event.kind]?.(event as never)),
    decideInstruction: (event, { index }) => checkVerdict(instructions[index]!.handler(event as never)),
  };
}

type Handler = (event: never) => HandlerResult;

/** All matching handlers run, and the strictest verdict is the policy's. */
function answerOf(
  policy: string,
  handlers: Handler[] | undefined,
  event: CallEvent | ReturnEvent,
): Verdict | undefined {
  if (!handlers) return undefined;
  let settled: Verdict | undefined;
  for (const handler of handlers) {
    const answer = checkVerdict(handler(event as never));
    if (answer) settled = stricterVerdict(settled, answer, () => [policy, policy, event.name]);
  }
  return settled;
}

function invalid(policy: string, message: string): HermesError {
  return new HermesError("POLICY_INVALID", { file: policy, message });
}

function checkActions(spec: PolicySpec): ReadonlySet<VerdictAction> {
  if (spec.actions === undefined) return EVERYTHING;
  for (const action of spec.actions)
    if (!VERDICT_ACTIONS.includes(action))
      throw invalid(spec.name, `unknown action "${action}"${didYouMean(action, VERDICT_ACTIONS)}`);
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

/** Calls that a handler names, directly or by class. */
function namedCalls(spec: PolicySpec): Set<number> {
  const keys = [...Object.keys(spec.on ?? {}), ...Object.keys(spec.returns ?? {})];
  const named = keys.filter((key) => key !== "*" && !namesInside(key));
  return new Set(named.flatMap((key) => callsNamed(spec.name, key).map(({ nr }) => nr)));
}

/** The `only` conditions of each call. */
function narrowed(
  spec: PolicySpec,
  ...handled: readonly ReadonlyMap<number, unknown>[]
): Map<number, readonly (readonly ConstantTest[])[]> {
  const found = new Map<number, readonly (readonly ConstantTest[])[]>();
  for (const [name, where] of Object.entries(spec.only ?? {})) {
    const [call] = callsNamed(spec.name, name);
    if (!handled.some((handlers) => handlers.has(call!.nr)))
      throw invalid(spec.name, `only.${name}: no handler subscribes to ${name}`);
    const sets = (Array.isArray(where) ? where : [where]) as readonly Record<
      string,
      Value | ArgumentComparison
    >[];
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
  readonly subscription: FunctionSubscription;
  readonly handlers: { function?: Handler; "function-return"?: Handler };
}

function collectFunctions(spec: PolicySpec, actions: ReadonlySet<VerdictAction>): FunctionHandlers[] {
  const patterns = new Set([...Object.keys(spec.on ?? {}), ...Object.keys(spec.returns ?? {})]);
  return [...patterns]
    .filter((key) => namesFunction(key) && !namesInstruction(key))
    .map((key, index) => {
      const entry = (spec.on as Record<string, Handler> | undefined)?.[key];
      const returns = (spec.returns as Record<string, Handler> | undefined)?.[key];
      const pattern = readPattern(spec.name, key);
      const subscription = {
        pattern,
        entry: entry !== undefined,
        returns: returns !== undefined,
        actions,
        index,
      };
      return {
        subscription,
        handlers: { ...(entry && { function: entry }), ...(returns && { "function-return": returns }) },
      };
    });
}

interface InstructionHandler {
  readonly subscription: InstructionSubscription;
  readonly handler: Handler;
}

function collectInstructions(spec: PolicySpec, actions: ReadonlySet<VerdictAction>): InstructionHandler[] {
  for (const key of Object.keys(spec.returns ?? {}).filter(namesInstruction))
    throw invalid(spec.name, `returns.${key}: an instruction has no return: put the handler under \`on\``);
  return Object.entries(spec.on ?? {})
    .filter(([key]) => namesInstruction(key))
    .map(([key, handler], index) => ({
      subscription: { ...readInstruction(spec.name, key), actions, index },
      handler: handler as Handler,
    }));
}

function readInstruction(policy: string, key: string): InstructionPattern {
  try {
    return parseInstructionPattern(key);
  } catch (error) {
    throw invalid(policy, (error as Error).message);
  }
}

/** True when a key names a function or an instruction, not a system call. */
function namesInside(key: string): boolean {
  return namesFunction(key) || namesInstruction(key);
}

function readPattern(policy: string, key: string): FunctionPattern {
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

/** A rule before its names are checked, as languages other than TypeScript give it. */
export interface LooseRule {
  readonly id: string;
  readonly deny?: string;
  readonly kill?: string;
  readonly where?: Readonly<Record<string, Value | ArgumentComparison>>;
  readonly errno?: string | number;
  readonly reason?: string;
}

/** The rule for each call that it names, ready for the filter. Throws for an unknown name. */
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
  test: Value | ArgumentComparison,
): ConstantTest {
  const arg = call.args.findIndex((a) => a.name === name);
  const argument = call.args[arg];
  if (!argument) {
    const names = call.args.map((a) => a.name);
    throw invalid(
      policy,
      `rule ${id}: ${call.name} has no argument "${name}"${didYouMean(name, names)} (known: ${names.join(", ")})`,
    );
  }
  const constant = (value: Value): bigint => {
    if (typeof value === "bigint") return value;
    if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
    if (typeof value !== "string" || argument.flags === undefined)
      throw invalid(policy, `rule ${id}: ${call.name}.${name} takes a whole number, not "${value}"`);
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
