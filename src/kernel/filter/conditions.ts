import { type IntervalSet, intersect, isEverything, valuesOf } from "./interval.js";
import type { Register } from "./partition.js";
import type { ArgumentTest } from "./spec.js";

/** All that a rule demands of one argument by value. */
export interface Condition extends Register {
  set: IntervalSet;
}

/** The tests of a rule, one condition per argument, with what always or never holds worked out. */
export interface Conditions {
  byValue: readonly Condition[];
  masked: readonly ArgumentTest[];
}

export function isSame(a: Register, b: Register): boolean {
  return a.arg === b.arg && a.width === b.width;
}

/** Undefined when no call can satisfy all the tests. */
export function conditionsOf(tests: readonly ArgumentTest[]): Conditions | undefined {
  const masked: ArgumentTest[] = [];
  const byValue: Condition[] = [];
  for (const test of tests) {
    if (test.op === "masked") {
      masked.push(test);
      continue;
    }
    const set = valuesOf(test);
    const same = byValue.find((condition) => isSame(condition, test));
    if (same) same.set = intersect(same.set, set);
    else byValue.push({ arg: test.arg, width: test.width, set });
  }
  if (byValue.some(({ set }) => set.length === 0)) return undefined;
  const inOrder = <T extends Register>(a: T, b: T) => a.arg - b.arg || a.width - b.width;
  return {
    // One order for all rules, so that rules with the same tests share their code.
    byValue: byValue.filter(({ set, width }) => !isEverything(set, width)).sort(inOrder),
    masked: masked.sort(inOrder),
  };
}
