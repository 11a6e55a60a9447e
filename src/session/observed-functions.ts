import { dirname, resolve } from "node:path";
import { parseFunctionPattern } from "../policy/function-pattern.js";
import type { FunctionSubscription, Policy } from "../policy/policy.js";

/** The policy behind a trace of functions: it subscribes to them and decides nothing. */
export function observerPolicy(patterns: readonly string[]): Policy {
  const parse = (pattern: string) => parseFunctionPattern(pattern.replace(/^!/, ""));
  const except = patterns.filter((pattern) => pattern.startsWith("!")).map(parse);
  const functions = patterns
    .filter((pattern) => !pattern.startsWith("!"))
    .map(
      (pattern, index): FunctionSubscription => ({
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

/** Prototype files: the run's own, and those that policies name. */
export function prototypeFiles(own: readonly string[] = [], policies: readonly Policy[]): string[] {
  const named = policies.flatMap(({ file, prototypes = [] }) =>
    prototypes.map((name) => resolve(file === undefined ? "." : dirname(file), name)),
  );
  return [...own, ...named];
}
