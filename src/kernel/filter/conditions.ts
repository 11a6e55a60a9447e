import { type IntervalSet, intersect, isEverything, valuesOf } from "./interval.js";
import type { ArgumentRegister } from "./partition.js";
import type { ArgumentTest } from "./spec.js";

/** Everything that a rule demands of one argument by value. */
export interface ArgumentCondition extends ArgumentRegister {
  set: IntervalSet;
}

/** The tests of a rule, one condition per argument. Tests that always or never hold are already resolved. */
export interface ArgumentConditions {
  byValue: readonly ArgumentCondition[];
  masked: readonly ArgumentTest[];
}

export function isSame(a: ArgumentRegister, b: ArgumentRegister): boolean {
  return a.arg === b.arg && a.width === b.width;
}

/** Undefined when no call can satisfy all the tests. */
export function conditionsOf(tests: readonly ArgumentTest[]): ArgumentConditions | undefined {
  const masked: ArgumentTest[] = [];
  const byValue: ArgumentCondition[] = [];
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
  const inOrder = <T extends ArgumentRegister>(a: T, b: T) => a.arg - b.arg || a.width - b.width;
  return {
    // One order for all rules, so that rules with the same tests share their code.
    byValue: byValue.filter(({ set, width }) => !isEverything(set, width)).sort(inOrder),
    masked: masked.sort(inOrder),
  };
}
