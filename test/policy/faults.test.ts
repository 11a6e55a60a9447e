import { defineFaults, occurrences } from "hermes-runtime";
import { describe, expect, it } from "vitest";
import { type Call, makeCalls } from "../support/calls.js";

const hits = (when: Parameters<typeof occurrences>[0], n: number) => {
  const next = occurrences(when);
  return Array.from({ length: n }, (_, i) => (next() ? i + 1 : 0)).filter(Boolean);
};

describe("when a fault happens", () => {
  it("is always, the nth time, from a time on, or every few times", () => {
    expect(hits({}, 3)).toEqual([1, 2, 3]);
    expect(hits({ nth: 2 }, 5)).toEqual([2]);
    expect(hits({ from: 3 }, 5)).toEqual([3, 4, 5]);
    expect(hits({ from: 2, step: 3 }, 9)).toEqual([2, 5, 8]);
    expect(hits({ step: 2 }, 5)).toEqual([1, 3, 5]);
  });

  it("is by chance, the same on every run with the same seed", () => {
    const once = hits({ probability: 0.1, seed: 7 }, 10_000);
    expect(once).toEqual(hits({ probability: 0.1, seed: 7 }, 10_000));
    expect(once).not.toEqual(hits({ probability: 0.1, seed: 8 }, 10_000));
    expect(once.length).toBeGreaterThan(850);
    expect(once.length).toBeLessThan(1150);
  });
});

describe("a policy of faults", () => {
  it("has many rules per call, with conditions on any argument, each counting for itself", async () => {
    const policy = defineFaults("flaky", [
      { id: "third", call: "getppid", errno: "EIO", when: { nth: 3 } },
      { id: "even", call: "getppid", errno: "EAGAIN", when: { from: 2, step: 2 } },
      {
        id: "tall",
        call: ["mkdir", "rmdir"],
        where: (e) => e.path?.startsWith("/tall") === true,
        errno: "ENOSPC",
      },
    ]);
    const calls: Call[] = [
      ...Array<Call>(5).fill(["getppid"]),
      ["mkdir", "s:/tall/x", 0],
      ["rmdir", "s:/short"],
    ];
    const { outcomes, session } = await makeCalls(calls, policy);
    expect(outcomes.map((o) => o.errno)).toEqual([
      undefined,
      "EAGAIN",
      "EIO",
      "EAGAIN",
      undefined,
      "ENOSPC",
      "ENOENT",
    ]);
    expect(session.summary.decisions.map((d) => [d.rule, d.count])).toEqual(
      expect.arrayContaining([
        ["third", 1],
        ["even", 2],
        ["tall", 1],
      ]),
    );
  });

  it("that would do nothing is refused", () => {
    expect(() => defineFaults("empty", [{ id: "x", call: "read" }])).toThrow(/fault x has no effect/);
  });
});
