import {
  type ArgumentTest,
  AUDIT_ARCH_X86_64,
  type FilterAction,
  type FilterSpec,
  type SeccompData,
} from "../../../src/kernel/filter/index.js";

/** What a specification says about a call, read off it as plainly as possible. */
export function expectedAction(spec: FilterSpec, data: SeccompData): FilterAction {
  const nr = data.nr >>> 0;
  if (data.arch !== AUDIT_ARCH_X86_64) return spec.foreign;
  if (nr === 0xffffffff) return { do: "allow" };
  if (nr >= 0x40000000) return spec.foreign;
  const call = spec.calls.get(nr);
  if (!call) return spec.otherwise;
  for (const rule of call.rules) {
    if (rule.tests.every((test) => holds(test, data.args[test.arg]!))) return rule.action;
  }
  return call.otherwise;
}

function holds(test: ArgumentTest, register: bigint): boolean {
  const bits = BigInt.asUintN(test.width, register);
  const isPattern = (value: bigint) => BigInt.asUintN(test.width, value) === bits;
  const number = test.signed ? BigInt.asIntN(test.width, register) : bits;
  const value = test.value as bigint;
  switch (test.op) {
    case "eq":
      return isPattern(value);
    case "ne":
      return !isPattern(value);
    case "in":
      return (test.value as bigint[]).some(isPattern);
    case "masked":
      return BigInt.asUintN(test.width, bits & test.mask!) === BigInt.asUintN(test.width, value);
    case "lt":
      return number < value;
    case "le":
      return number <= value;
    case "gt":
      return number > value;
    case "ge":
      return number >= value;
  }
}
