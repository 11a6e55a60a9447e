import { syscallByName } from "../abi/index.js";
import type { ConstantTest, Interest, Policy } from "../policy/policy.js";

const PROT_EXEC = 4n;
/** Calls that make memory executable, all with the protection as their third argument. */
const MAKES_CODE = ["mmap", "mprotect", "pkey_mprotect"];
const PROTECTION = 2;

const isCode: ConstantTest = { arg: PROTECTION, width: 64, op: "masked", mask: PROT_EXEC, value: PROT_EXEC };

/**
 * Hears of code that programs load while they run, so that what is known of their code stays true. A policy that decides
 * nothing: it comes with sessions in which stacks are looked at.
 */
export function codeWatch(onCode: () => void): Policy {
  const interest: Interest = { entry: false, returns: true, actions: new Set(["allow"]), when: [[isCode]] };
  return {
    name: "code",
    version: "",
    builtIn: true,
    subscription: {
      calls: new Map(MAKES_CODE.map((name) => [syscallByName(name)!.nr, interest])),
      constants: [],
    },
    decide: () => undefined,
    decideReturn: (event) => {
      if ((event.argument(PROTECTION) & PROT_EXEC) !== 0n) onCode();
      return undefined;
    },
  };
}

/** Whether any of these looks at stacks or registers. */
export function lookAtStacks(policies: readonly Policy[]): boolean {
  return policies.some(({ subscription }) => [...subscription.calls.values()].some(({ inside }) => inside));
}
