import { describe, expect, it } from "vitest";
import { count, GOALS, HELD_GOALS, readCorpus } from "../../../scripts/corpus.mjs";
import { unknownRule } from "../../../src/intent/guard/config/rule-names.js";
import { Guard } from "../../../src/intent/guard/guard.js";
import { LAYERS } from "../../../src/intent/guard/layers.js";

/** Judged without I/O: no files, no names. */
const guard = new Guard(LAYERS);
const rules = new Set<string>();
const table = count(readCorpus(), ({ id, kind, hostile, held, dev, class: _, input, ...fields }) => {
  const text = typeof input === "string" ? input : JSON.stringify(input);
  const { action, findings } = guard.check({ kind, input: text, fields });
  for (const { rule } of findings) rules.add(rule);
  return action;
});

it("every rule that is found has a name that hermes.yaml may use", () => {
  expect(rules.size).toBeGreaterThan(200);
  expect([...rules].flatMap((rule) => unknownRule(rule) ?? [])).toEqual([]);
});

for (const [kind, { hostile, missed, harmless, refused, asked }] of Object.entries(table))
  describe(`the corpus: ${kind}`, () => {
    const goals = / (?:held|dev)$/.test(kind) ? HELD_GOALS : GOALS;
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
