import type { ConstantTest } from "../policy.js";

/** Register conditions for the kernel's filter: one of these cases, and in it every test. */
export type Cases = readonly (readonly ConstantTest[])[];

export const ALWAYS: Cases = [[]];
const MAX_CASES = 64;

/** Whether a condition depends on the call at all: one that does not is probably a mistake. */
export type Sense = "always" | "never" | "sometimes";

/** Both conditions; undefined when the filter cannot express one, or there would be too many cases. */
function bothCases(a: Cases | undefined, b: Cases | undefined): Cases | undefined {
  if (!a || !b || a.length * b.length > MAX_CASES) return undefined;
  return a.flatMap((one) => b.map((other) => [...one, ...other]));
}

export function allCases(list: readonly (Cases | undefined)[]): Cases | undefined {
  return list.reduce<Cases | undefined>(bothCases, ALWAYS);
}

/** The sense of a test that changes only at certain values, found by trying those. */
export function senseOf(test: (value: bigint) => boolean, values: Iterable<bigint>): Sense {
  let yes = false;
  let no = false;
  for (const value of values)
    if (test(value)) yes = true;
    else no = true;
  return yes && no ? "sometimes" : yes ? "always" : "never";
}
