import { describe, expect, it } from "vitest";
import { confidence, interleave, judge, ratioOf, summarise } from "../../bench/stats.mjs";

describe("figures of many rounds", () => {
  it("are a median and the middle half, whatever the extremes are", () => {
    expect(summarise([1, 2, 3, 4, 1000])).toEqual({ median: 3, low: 2, high: 4 });
    expect(summarise([4, 1]).median).toBe(2.5);
    expect(summarise([7])).toEqual({ median: 7, low: 7, high: 7 });
  });

  it("are compared within their round: a slow minute takes nothing from a ratio", () => {
    expect(ratioOf([2, 20, 200], [1, 10, 100])).toEqual({ median: 2, low: 2, high: 2 });
  });

  it("are taken in turn", () => {
    const order: string[] = [];
    const samples = interleave(2, [{ name: "a" }, { name: "b" }], ({ name }: { name: string }) => {
      order.push(name);
      return order.length;
    });
    expect(order).toEqual(["a", "b", "a", "b"]);
    expect([...samples]).toEqual([
      ["a", [1, 3]],
      ["b", [2, 4]],
    ]);
  });

  it("say how sure they are: 95 % where there are enough of them, and what there is where not", () => {
    // Tables of the sign test: of 11, the second to the tenth have 98.8 %; of 6, all have 96.9 %; of 3, 75 %.
    const eleven = Array.from({ length: 11 }, (_, i) => i + 1);
    expect(confidence(eleven)).toMatchObject({ low: 2, high: 10 });
    expect(confidence(eleven).level).toBeCloseTo(0.988, 3);
    expect(confidence([6, 5, 4, 3, 2, 1])).toMatchObject({ low: 1, high: 6 });
    expect(confidence([6, 5, 4, 3, 2, 1]).level).toBeCloseTo(0.969, 3);
    expect(confidence([3, 1, 2]).level).toBeCloseTo(0.75);
    expect(confidence([5])).toEqual({ low: 5, high: 5, level: 0 });
  });
});

describe("a goal", () => {
  const samples = new Map([
    ["bare", [10, 10, 10]],
    ["HERMES", [11, 12, 19]],
  ]);
  it("holds when the median of the ratios is within it", () => {
    const [kept] = judge([{ subject: "HERMES", against: "bare", atMost: 1.2 }], samples);
    expect(kept).toMatchObject({ holds: true, ratio: { median: 1.2 } });
  });
  it("does not hold when it is above", () => {
    const [missed] = judge([{ subject: "HERMES", against: "bare", atMost: 1.19 }], samples);
    expect(missed!.holds).toBe(false);
  });
  it("is no goal where one of the two was not measured", () =>
    expect(judge([{ subject: "HERMES", against: "runsc", atMost: 1 }], samples)).toEqual([]));
});
