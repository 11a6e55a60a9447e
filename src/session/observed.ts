import { dirname, resolve } from "node:path";
import { parseFunctionPattern } from "../policy/function-pattern.js";
import type { FunctionInterest, Policy } from "../policy/policy.js";

/** The policy that comes with a trace of functions: it wants to see them, and has nothing to say. */
export function observedFunctions(patterns: readonly string[]): Policy {
  const parse = (pattern: string) => parseFunctionPattern(pattern.replace(/^!/, ""));
  const except = patterns.filter((pattern) => pattern.startsWith("!")).map(parse);
  const functions = patterns
    .filter((pattern) => !pattern.startsWith("!"))
    .map(
      (pattern, index): FunctionInterest => ({
        pattern: parse(pattern),
        entry: false,
        returns: false,
        actions: new Set(),
        index,
        observes: true,
        ...(except.length > 0 && { except }),
      }),
    );
  return {
    name: "trace",
    version: "",
    builtIn: true,
    subscription: { calls: new Map(), constants: [], functions },
    decide: () => undefined,
    decideReturn: () => undefined,
  };
}

/** Files with prototypes: the run's own, and those that policies name beside theirs. */
export function prototypeFiles(own: readonly string[] = [], policies: readonly Policy[]): string[] {
  const named = policies.flatMap(({ file, prototypes = [] }) =>
    prototypes.map((name) => resolve(file === undefined ? "." : dirname(file), name)),
  );
  return [...own, ...named];
}
