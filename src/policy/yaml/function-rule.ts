import type { Argument } from "../../abi/index.js";
import type { CallEvent, FunctionEvent } from "../../nouns/event.js";
import type { CallChange, Emulation, Fault, Verdict } from "../../nouns/verdict.js";
import { type FunctionPattern, matchesModule, parseFunctionPattern } from "../function-pattern.js";
import { type Comparison, compareText } from "../match/compare.js";
import { compileWord, PatternError } from "../match/glob.js";
import { parseDuration, parseSize } from "../match/quantity.js";
import type { FunctionSubscription } from "../policy.js";
import type { ActionKey } from "./action.js";
import { AnswerError, argumentValue, bytesOf, checkedErrno, checkedSignal } from "./answer.js";
import { compareWanted, type WantedArguments, wantedText } from "./on-arguments.js";
import type { RuleCondition, RuleCounter, RuleInput } from "./rule.js";
import type { RuleSpec } from "./schema.js";

/** A rule on functions inside the program: `deny: call`, `call: "libc!system"`. */
export interface FunctionRule {
  readonly order: number;
  readonly id: string;
  readonly at: string;
  readonly key: ActionKey;
  readonly patterns: readonly FunctionPattern[];
  /** Applied at the call, or at the return. */
  readonly on: "function" | "function-return";
  readonly conditions: readonly RuleCondition[];
  readonly counters: readonly RuleCounter[];
  readonly verdict: Verdict;
}

/** The keys that a rule on functions accepts, besides its action and `call`. */
const TAKES: Readonly<Record<ActionKey, readonly (keyof RuleSpec)[]>> = {
  allow: [],
  watch: [],
  kill: [],
  ask: [],
  deny: ["errno"],
  redirect: [],
  modify: ["args", "data", "result"],
  emulate: ["result", "data"],
  fault: ["errno", "delay", "signal"],
};
const COMMON: readonly (keyof RuleSpec)[] = [
  ...(["id", "call", "where", "user", "process", "time", "rate", "when"] as const),
  ...(["stack", "caller", "reason", "examples"] as const),
];

export function checkFunctionKeys(key: ActionKey, spec: RuleSpec): void {
  if (key === "redirect")
    throw new AnswerError("redirect", "a function cannot be redirected: modify its `args`");
  const names = [spec[key]!].flat();
  if (names.length !== 1 || (names[0] !== "call" && names[0] !== "return"))
    throw new AnswerError(key, "a rule with `call` takes only `call` or `return` as its target");
  const stray = (Object.keys(spec) as (keyof RuleSpec)[]).find(
    (name) =>
      name !== key && spec[name] !== undefined && !COMMON.includes(name) && !TAKES[key].includes(name),
  );
  if (stray) throw new AnswerError(stray, `\`${stray}\` does not go with \`${key}: ${names[0]}\``);
  if (spec.examples)
    throw new AnswerError("examples", "rules on functions cannot have examples: test them with a program");
}

export function functionPattern(text: string): FunctionPattern {
  try {
    return parseFunctionPattern(text);
  } catch (error) {
    throw new PatternError((error as Error).message);
  }
}

export function functionVerdict(key: ActionKey, spec: RuleSpec): Verdict {
  const base = { rule: spec.id, ...(spec.reason !== undefined && { reason: spec.reason }) };
  switch (key) {
    case "watch":
      return { action: "allow", watched: true, ...base };
    case "ask":
      if (spec.reason === undefined)
        throw new AnswerError("ask", "`ask` needs a `reason`: the approver sees it");
      return { action: "ask", ...base };
    case "deny":
      return { action: "deny", errno: checkedErrno(spec.errno ?? "EACCES"), ...base };
    case "modify":
      return { action: "modify", change: changeOf(spec), ...base };
    case "emulate":
      return { action: "emulate", emulation: emulationOf(spec), ...base };
    case "fault":
      return { action: "fault", fault: faultOf(spec), ...base };
    default:
      return { action: key === "kill" ? "kill" : "allow", ...base };
  }
}

function changeOf({ args, data, result, modify }: RuleSpec): CallChange {
  if (args === undefined && data === undefined && result === undefined)
    throw new AnswerError(
      "modify",
      "`modify` needs `args`, `data` or `result`: otherwise it changes nothing",
    );
  if (result !== undefined && [modify].flat()[0] !== "return")
    throw new AnswerError("result", "a result can only be changed on return: write `modify: return`");
  return {
    ...(args !== undefined && {
      args: Object.fromEntries(Object.entries(args).map(([name, value]) => [name, argumentValue(value)])),
    }),
    ...(data !== undefined && { data: bytesOf(data) }),
    ...(result !== undefined && { result: resultOf(result) }),
  };
}

function emulationOf({ result, data }: RuleSpec): Emulation {
  if (result === undefined && data === undefined)
    throw new AnswerError("emulate", "`emulate` needs `result` or `data`");
  return { result: resultOf(result ?? 0), ...(data !== undefined && { data: bytesOf(data) }) };
}

/** A number, or a text that the function returns a pointer to. */
function resultOf(result: number | string): bigint | string {
  return parseSize(String(result)) ?? String(result);
}

function faultOf({ errno, delay, signal }: RuleSpec): Fault {
  if (errno === undefined && delay === undefined && signal === undefined)
    throw new AnswerError("fault", "`fault` needs `errno`, `delay` or `signal`");
  const milliseconds = delay === undefined ? undefined : parseDuration(String(delay));
  if (delay !== undefined && milliseconds === undefined)
    throw new AnswerError("delay", `"${delay}" is not a duration: write 20ms or 1.5s`);
  return {
    ...(errno !== undefined && { errno: checkedErrno(errno) }),
    ...(milliseconds !== undefined && { delay: milliseconds }),
    ...(signal !== undefined && { signal: checkedSignal(String(signal)) }),
  };
}

// ---------------------------------------------------------------- conditions

const WORD: Argument = { name: "it", kind: "int", width: 64 };

/** Comparisons of arguments by name or by number from 0. Unknown arguments satisfy restricting rules. */
export function onFunctionArguments(where: WantedArguments, strict: boolean): RuleCondition {
  const tests = Object.entries(where).map(([name, wanted]) => {
    if (!Array.isArray(wanted)) return { name, number: compareWanted(WORD, 0, wanted), text: () => false };
    return { name, number: attempt(() => compareWanted(WORD, 0, wanted)), text: compareText(wanted) };
  });
  return {
    key: "where",
    holds: ({ event }: RuleInput) =>
      tests.every((test) => holdsFor(test, event as unknown as FunctionEvent, strict)),
    tell: () => `${Object.keys(where).join(", ")} is not ${Object.values(where).map(wantedText).join(", ")}`,
  };
}

interface ArgumentTest {
  readonly name: string;
  readonly number: Comparison | undefined;
  readonly text: (value: string) => boolean;
}

function holdsFor({ name, number, text }: ArgumentTest, event: FunctionEvent, strict: boolean): boolean {
  if (/^\d+$/.test(name)) {
    const i = Number(name);
    if (number) return number.test(event.argument(i));
    const pointed = event.string(i);
    return pointed === undefined ? false : text(pointed);
  }
  const value = event.args[name];
  if (typeof value === "string") return text(value);
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean")
    return Number.isInteger(Number(value)) && (number?.test(BigInt(value)) ?? false);
  return value === null ? (number?.test(0n) ?? false) : strict;
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}

// ---------------------------------------------------------------- deciding

/** The rules on functions. The first match decides, as everywhere. */
export class FunctionRules {
  readonly subscriptions: readonly FunctionSubscription[];
  readonly #rules: readonly FunctionRule[];
  readonly #subscribed: readonly { rule: FunctionRule; pattern: FunctionPattern }[];

  constructor(rules: readonly FunctionRule[]) {
    this.#rules = rules;
    this.#subscribed = rules.flatMap((rule) => rule.patterns.map((pattern) => ({ rule, pattern })));
    this.subscriptions = this.#subscribed.map(({ rule, pattern }, index) => ({
      pattern,
      entry: rule.on === "function",
      returns: rule.on === "function-return",
      actions: new Set([rule.verdict.action]),
      index,
    }));
  }

  decide(event: FunctionEvent, { index }: FunctionSubscription): Verdict | undefined {
    const { rule, pattern } = this.#subscribed[index]!;
    const own = rule.patterns.find((one) => one === pattern || names(one, event));
    if (own !== pattern || rule.on !== event.kind) return undefined;
    const input = { event: event as unknown as CallEvent } as RuleInput;
    for (const before of this.#rules) {
      if (before === rule) break;
      if (before.key === "watch" || before.on !== event.kind) continue;
      if (!before.patterns.some((one) => names(one, event)) || !holds(before, input)) continue;
      if (before.counters.every((counter) => counter.peek(input.event))) return undefined;
    }
    if (!holds(rule, input) || !rule.counters.every((counter) => counter.take(input.event))) return undefined;
    return rule.verdict;
  }
}

function holds({ conditions }: FunctionRule, input: RuleInput): boolean {
  return conditions.every((condition) => condition.holds(input));
}

/** True when a pattern matches that function, judging by its name. */
function names(pattern: FunctionPattern, { module, symbol, process }: FunctionEvent): boolean {
  const { what } = pattern;
  if (what.by !== "symbol" || symbol === undefined) return false;
  return compileWord(what.glob)(symbol) && matchesModule(pattern, module, process.exe.endsWith(`/${module}`));
}
