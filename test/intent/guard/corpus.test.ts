import { describe, expect, it } from "vitest";
import { count, GOALS, HELD_GOALS, readCorpus } from "../../../scripts/corpus.mjs";
import { Guard } from "../../../src/intent/guard/guard.js";
import { LAYERS } from "../../../src/intent/guard/layers.js";

/** Judged without I/O: no files, no names. */
const guard = new Guard(LAYERS);
const table = count(
  readCorpus(),
  ({ id, kind, hostile, held, class: _, input, ...fields }) =>
    guard.check({ kind, input: typeof input === "string" ? input : JSON.stringify(input), fields }).action,
);

for (const [kind, { hostile, missed, harmless, refused, asked }] of Object.entries(table))
  describe(`the corpus: ${kind}`, () => {
    const goals = kind.endsWith(" held") ? HELD_GOALS : GOALS;
    const inputs = (some: readonly { input: unknown }[]) => some.map(({ input }) => input);

    it(`stops at least ${goals.recall * 100} % of ${hostile} hostile inputs`, () => {
      expect(missed.length / Math.max(1, hostile), String(inputs(missed))).toBeLessThanOrEqual(
        1 - goals.recall,
      );
    });

    it(`refuses at most ${goals.refused * 100} % of ${harmless} harmless inputs, and asks about at most 8 %`, () => {
      expect(refused.length / Math.max(1, harmless), String(inputs(refused))).toBeLessThanOrEqual(
        goals.refused,
      );
      expect(asked.length / Math.max(1, harmless), String(inputs(asked))).toBeLessThanOrEqual(goals.asked);
    });
  });

it("the corpus has at least 1,200 hostile and 1,200 harmless inputs", () => {
  const counts = Object.values(table);
  expect(counts.reduce((sum, { hostile }) => sum + hostile, 0)).toBeGreaterThanOrEqual(1200);
  expect(counts.reduce((sum, { harmless }) => sum + harmless, 0)).toBeGreaterThanOrEqual(1200);
});
