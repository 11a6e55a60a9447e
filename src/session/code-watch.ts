import { syscallByName } from "../abi/index.js";
import { flagsValue } from "../abi/named.js";
import type { CallSubscription, ConstantTest, Policy } from "../policy/policy.js";

const PROT_EXEC = BigInt(flagsValue("mmap_prot", "PROT_EXEC"));
/** Calls that make memory executable. All have the protection as their third argument. */
const MAKES_CODE = ["mmap", "mprotect", "pkey_mprotect"];
const PROTECTION = 2;

const isCode: ConstantTest = { arg: PROTECTION, width: 64, op: "masked", mask: PROT_EXEC, value: PROT_EXEC };

/**
 * Reports code that programs load at run time, so that cached facts about code stay correct. A policy that
 * decides nothing; added to sessions whose policies read stacks.
 */
export function codeLoadPolicy(onCode: () => void): Policy {
  const subscription: CallSubscription = {
    entry: false,
    returns: true,
    actions: new Set(["allow"]),
    when: [[isCode]],
  };
  return {
    name: "code",
    version: "",
    builtIn: true,
    subscription: {
      calls: new Map(MAKES_CODE.map((name) => [syscallByName(name)!.nr, subscription])),
      constants: [],
    },
    decide: () => undefined,
    decideReturn: (event) => {
      if ((event.argument(PROTECTION) & PROT_EXEC) !== 0n) onCode();
      return undefined;
    },
  };
}

/** True when any of these policies reads stacks or registers. */
export function usesStacks(policies: readonly Policy[]): boolean {
  return policies.some(({ subscription }) => [...subscription.calls.values()].some(({ inside }) => inside));
}
