import { describe, expect, it } from "vitest";
import {
  compileFilter,
  type FilterAction,
  loadFilter,
  returnValue,
} from "../../../src/kernel/filter/index.js";
import { expectedAction } from "./oracle.js";
import { Random } from "./random.js";
import { asForeign, type Ingredients, randomInputs, randomSpec } from "./random-spec.js";

const ACTIONS: FilterAction[] = [
  { do: "allow" },
  { do: "allow" },
  { do: "errno", errno: 1 },
  { do: "errno", errno: 4095 },
  { do: "kill" },
  { do: "notify" },
  { do: "trace" },
  { do: "trace", cookie: 0xffff },
  { do: "log" },
];

const FEW = { actions: ACTIONS, numbers: [0, 1, 2, 3, 5, 9, 200, 0x3fffffff] };
const MANY = { actions: ACTIONS, numbers: Array.from({ length: 470 }, (_, nr) => nr) };
const FOREIGN: Ingredients["foreign"] = [{ do: "kill" }, { do: "errno", errno: 38 }];

describe("a compiled filter, interpreted, says what the specification says", () => {
  it.each([
    ["few calls", FEW, 4000, 60],
    ["all calls", MANY, 60, 3000],
  ] as const)("for random specifications of %s", (_, ingredients, specs, inputs) => {
    for (let seed = 0; seed < specs; seed++) {
      const random = new Random(seed);
      const spec = randomSpec(random, { ...ingredients, foreign: FOREIGN });
      const program = compileFilter(spec);
      const run = loadFilter(program);
      for (const data of randomInputs(random, spec, inputs)) {
        for (const call of [data, asForeign(data)]) {
          const value = run(call).value;
          if (value !== returnValue(expectedAction(spec, call))) {
            expect.fail(`seed ${seed}: ${value.toString(16)} for ${call.nr} ${call.args}`);
          }
        }
      }
    }
  });
});
