import { confidence, ratioOf, summarise } from "../../bench/stats.mjs";

const rowsOf = (samples: Record<string, number[]>) =>
  Object.fromEntries(
    Object.entries(samples).map(([name, times]) => [
      name,
      {
        ...summarise(times),
        ratio: ratioOf(times, samples.bare!),
        confidence: confidence(times),
        samples: times,
      },
    ]),
  );

const goal = (against: string, atMost: number, median: number) => ({
  ...{ subject: "HERMES enforce", against, atMost, holds: median <= atMost },
  ratio: { median, low: median, high: median },
});

/** Of a sitting that never was: a work that is met, one that is missed, one that a peer cannot do. */
export const RESULTS = {
  ...{ format: 1, date: "2026-11-15T20:00:00.000Z", command: "npm run bench", quick: false, pinned: false },
  machine: { kernel: "6.18.0", node: "v20.0.0", cpu: "AMD <EPYC>", cpus: 2, memoryGb: 8 },
  seconds: 1800,
  scenarios: {
    workloads: {
      seconds: 10,
      tables: [
        {
          ...{ title: "gcc: make", unit: "ms", baseline: "bare", work: "gcc" },
          rows: rowsOf({
            bare: [1000, 1100, 1200],
            "HERMES enforce": [1100, 1210, 1320],
            strace: [1500, 1650, 1800],
            srt: [1010, 1111, 1212],
          }),
          goals: [goal("bare", 1.15, 1.1), goal("strace", 1, 0.73), goal("srt", 1, 1.09)],
          about: { name: "gcc", ours: "HERMES enforce", bare: "bare", peers: ["strace", "srt"] },
          costs: { bare: { cpuMs: 900 }, "HERMES enforce": { cpuMs: 1000, ownCpuMs: 90, ownPeakMb: 101 } },
        },
        {
          ...{ title: "find: names", unit: "ms", baseline: "bare", work: "find" },
          rows: rowsOf({ bare: [10, 10, 10], "HERMES enforce": [200, 210, 190] }),
          goals: [goal("bare", 1.6, 20)],
          about: { name: "find", ours: "HERMES enforce", bare: "bare", peers: ["strace", "srt"] },
        },
      ],
    },
    rules: {
      seconds: 1,
      tables: [
        {
          ...{ title: "rules", unit: "ns", baseline: "bare", rows: rowsOf({ bare: [1, 1, 1] }) },
          goals: [{ ...goal("10 rules", 1.5, 1.02), subject: "10,000 rules" }],
          about: { name: "10,000 rules", ours: "10,000 rules", bare: "10 rules", peers: [] },
        },
      ],
    },
    guard: {
      seconds: 1,
      tables: [
        {
          title: "the guard",
          checks: [{ name: "the worst", value: 25, unit: "ms", goal: "< 20", holds: false }],
        },
      ],
    },
  },
  notMeasured: [{ scenario: "workloads", what: "find under strace", why: "exit 1: | <b>" }],
};
