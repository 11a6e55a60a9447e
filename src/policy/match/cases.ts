import type { ConstantTest } from "../policy.js";

/** What registers must hold, for the kernel's filter: one of these, and of that one every test. */
export type Cases = readonly (readonly ConstantTest[])[];

export const ALWAYS: Cases = [[]];
const MAX_CASES = 64;

/** Whether it depends on the call at all: a condition that does not is probably not meant. */
export type Sense = "always" | "never" | "sometimes";

/** Both at once; undefined when one cannot be said in the filter, or there would be too many. */
export function bothCases(a: Cases | undefined, b: Cases | undefined): Cases | undefined {
  if (!a || !b || a.length * b.length > MAX_CASES) return undefined;
  return a.flatMap((one) => b.map((other) => [...one, ...other]));
}

export function allCases(list: readonly (Cases | undefined)[]): Cases | undefined {
  return list.reduce<Cases | undefined>(bothCases, ALWAYS);
}

/** The sense of a test that changes only at some values, seen by trying those. */
export function senseOf(test: (value: bigint) => boolean, values: Iterable<bigint>): Sense {
  let yes = false;
  let no = false;
  for (const value of values)
    if (test(value)) yes = true;
    else no = true;
  return yes && no ? "sometimes" : yes ? "always" : "never";
}
