import { flagsValue } from "../../abi/named.js";
import type { CallSubscription, ConstantTest, Policy } from "../../policy/policy.js";
import { MAPS_CODE } from "./instrument.js";
import { RT_SIGACTION, SIGTRAP } from "./traps.js";

const PROT_EXEC = BigInt(flagsValue("mmap_prot", "PROT_EXEC"));
const PROT: ConstantTest = { arg: 2, width: 64, op: "masked", mask: PROT_EXEC, value: PROT_EXEC };

const TRAP: ConstantTest = { arg: 0, width: 32, op: "eq", value: BigInt(SIGTRAP) };

/** Stops threads that map code or handle traps, so that sites can be placed before the code runs. */
export function newCodePolicy(): Policy {
  const subscription = (test: ConstantTest): CallSubscription => ({
    entry: true,
    returns: true,
    actions: new Set(["allow"]),
    when: [[test]],
  });
  return {
    name: "hermes",
    version: "",
    subscription: {
      calls: new Map([
        ...MAPS_CODE.map((nr) => [nr, subscription(PROT)] as const),
        [RT_SIGACTION, subscription(TRAP)],
      ]),
      constants: [],
    },
    decide: () => undefined,
    decideReturn: () => undefined,
  };
}
