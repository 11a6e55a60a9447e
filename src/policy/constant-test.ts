import type { ConstantTest } from "./policy.js";

/** The test, as the kernel's filter would evaluate it. */
export function constantTestHolds(
  { op, width, value, mask, signed }: ConstantTest,
  register: bigint,
): boolean {
  const cut = (n: bigint) => BigInt.asUintN(width, n);
  const actual = cut(register);
  if (Array.isArray(value)) return value.some((v) => cut(v) === actual);
  const wanted = cut(value);
  const [a, b] = signed ? [BigInt.asIntN(width, actual), BigInt.asIntN(width, wanted)] : [actual, wanted];
  switch (op) {
    case "eq":
      return actual === wanted;
    case "ne":
      return actual !== wanted;
    case "lt":
      return a < b;
    case "le":
      return a <= b;
    case "gt":
      return a > b;
    case "ge":
      return a >= b;
    default:
      return (actual & cut(mask ?? 0n)) === wanted;
  }
}
