import { expect, test } from "vitest";
import { arguments_ as calls, differences } from "./arguments.js";
import { WAYS, type Way } from "./both-ways.js";
import { EXPLAINED } from "./explained.js";

/** Each so many of the 78,000 combinations: about 1,700, others than a bare neighbour of theirs would be. */
const EACH = "47";
const ON_BEHALF: readonly Way[] = ["acts at the notify door", "acts at the trace door", "the notify door"];

test.each(ON_BEHALF)("right and wrong arguments give the kernel's own results: %s", (way) => {
  expect(differences(calls([EACH]), calls([EACH], WAYS[way]))).toEqual([]);
});

test("each explained difference has a reason", () => {
  for (const { reason } of EXPLAINED) expect(reason).toMatch(/\w+ \w+/);
});
