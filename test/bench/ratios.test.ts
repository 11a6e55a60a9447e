import { describe, expect, it } from "vitest";
import { gauge, heldRatios } from "../../bench/ratios.mjs";
import { hermes } from "../../bench/tools.mjs";

/**
 * Ratios of one run, never times, with bounds so wide that only a gross loss breaks them: `npm run bench -- ratios` shows what is
 * measured.
 */
describe("what HERMES costs, beside something that was measured in the same minute", () => {
  const held = heldRatios();
  for (const ratio of held)
    it(`is within its bound: ${ratio.name}`, () => {
      const { ratio: found, holds } = gauge(ratio);
      expect(holds, `${found.median.toFixed(2)} ×, at most ${ratio.atMost} ×`).toBe(true);
    });

  it("is noticed: a policy that takes its time is caught", () => {
    const [opens] = held;
    const slow = [...hermes("notify", "slow"), ...opens!.subject.slice(-3, -1), "50"];
    const { holds, ratio } = gauge({ ...opens!, subject: slow }, { rounds: 1 });
    expect(holds, `${ratio.median.toFixed(2)} ×`).toBe(false);
  });
});
