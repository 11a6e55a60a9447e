import { type FilterAction, MAX_COOKIE, MAX_ERRNO } from "./action.js";
import { InvalidFilterSpec } from "./errors.js";
import { SECCOMP_ARGUMENTS, X32_SYSCALL_BIT } from "./seccomp-data.js";
import type { ArgumentTest, FilterSpec } from "./spec.js";

/** Refuses a specification that would compile to something else than it says. */
export function validateSpec(spec: FilterSpec): void {
  validateAction(spec.otherwise, "otherwise");
  validateAction(spec.foreign, "foreign");
  for (const [nr, call] of spec.calls) {
    const where = `syscall ${nr}`;
    if (!isWithin(nr, X32_SYSCALL_BIT - 1))
      throw new InvalidFilterSpec(where, "not an x86_64 syscall number");
    validateAction(call.otherwise, `${where}, otherwise`);
    call.rules.forEach((rule, r) => {
      validateAction(rule.action, `${where}, rule ${r}`);
      rule.tests.forEach((test, t) => {
        validateTest(test, `${where}, rule ${r}, test ${t}`);
      });
    });
  }
}

function validateAction(action: FilterAction, where: string): void {
  if (action.do === "errno" && !isWithin(action.errno, MAX_ERRNO)) {
    throw new InvalidFilterSpec(where, `errno ${action.errno} is not in 0..${MAX_ERRNO}`);
  }
  if (action.do === "trace" && !isWithin(action.cookie ?? 0, MAX_COOKIE)) {
    throw new InvalidFilterSpec(where, `trace cookie ${action.cookie} is not in 0..${MAX_COOKIE}`);
  }
}

function validateTest(test: ArgumentTest, where: string): void {
  const refuse = (problem: string): never => {
    throw new InvalidFilterSpec(where, problem);
  };
  const { arg, width, op, value, mask } = test;
  if (!isWithin(arg, SECCOMP_ARGUMENTS - 1)) refuse(`argument ${arg} is not in 0..${SECCOMP_ARGUMENTS - 1}`);
  if (width !== 32 && width !== 64) refuse(`width ${width} is neither 32 nor 64`);
  if (Array.isArray(value) !== (op === "in"))
    refuse(op === "in" ? "in needs a list" : `${op} needs one value`);
  if ((mask !== undefined) !== (op === "masked")) refuse("a mask belongs to masked, and masked needs one");

  const [smallest, largest] = constantsOf(test);
  for (const constant of [value, mask ?? 0n].flat()) {
    if (constant < smallest || constant > largest) {
      refuse(`${constant} is not a value of the argument (${smallest}..${largest})`);
    }
  }
}

/**
 * The smallest and largest constant of a test: for an ordering, a number of its kind; otherwise any bit
 * pattern.
 */
function constantsOf({ width, op, signed }: ArgumentTest): [bigint, bigint] {
  const half = 1n << BigInt(width - 1);
  const isOrdering = op === "lt" || op === "le" || op === "gt" || op === "ge";
  if (!isOrdering) return [-half, 2n * half - 1n];
  return signed ? [-half, half - 1n] : [0n, 2n * half - 1n];
}

function isWithin(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= max;
}
