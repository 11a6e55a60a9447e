import type { ConstantTest, Interest, Policy } from "../policy/policy.js";
import { MAPS_CODE } from "./instrument.js";

const PROT_EXEC = 4n;
const PROT: ConstantTest = { arg: 2, width: 64, op: "masked", mask: PROT_EXEC, value: PROT_EXEC };

/** Stops whoever maps code, so that sites can be placed in it before it runs. */
export function newCodePolicy(): Policy {
  const interest: Interest = { entry: true, returns: true, actions: new Set(["allow"]), when: [[PROT]] };
  return {
    name: "hermes",
    version: "",
    subscription: { calls: new Map(MAPS_CODE.map((nr) => [nr, interest])), constants: [] },
    decide: () => undefined,
    decideReturn: () => undefined,
  };
}
