import type { ConstantTest, Interest, Policy } from "../policy/policy.js";
import { MAPS_CODE } from "./instrument.js";
import { RT_SIGACTION, SIGTRAP } from "./traps.js";

const PROT_EXEC = 4n;
const PROT: ConstantTest = { arg: 2, width: 64, op: "masked", mask: PROT_EXEC, value: PROT_EXEC };

const TRAP: ConstantTest = { arg: 0, width: 32, op: "eq", value: BigInt(SIGTRAP) };

/** Stops whoever maps code or handles traps, so that sites can be placed in it before it runs. */
export function newCodePolicy(): Policy {
  const interest = (test: ConstantTest): Interest => ({
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
        ...MAPS_CODE.map((nr) => [nr, interest(PROT)] as const),
        [RT_SIGACTION, interest(TRAP)],
      ]),
      constants: [],
    },
    decide: () => undefined,
    decideReturn: () => undefined,
  };
}
