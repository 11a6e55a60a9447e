import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Whoever takes long begins early, or all wait for it in the end. The longest first. */
const LONG = [
  "tools/crash",
  "attacks/attacks",
  "ship/package",
  "transparency/programs",
  "transparency/signals",
  "backends/podman",
  "backends/crun",
  "backends/ssh.",
  "transparency/start-state",
  "console/views",
  "transparency/processes",
  "transparency/stdio",
  "hooks/fail-closed",
  "faults/faults",
  "test/docs.",
  "mcp/gateway",
  "learn/loop",
  "store/sqlite",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = LONG.findIndex((part) => moduleId.includes(part));
      return found < 0 ? LONG.length : found;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    sequence: { sequencer: LongestFirst },
    // Tests of the kernel side start processes, threads and signals of their own: each file gets a process.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Where a red run throws work away, a test that a loaded machine starved gets a second try, and is named in
    // the output. Tests of races forbid it for themselves.
    retry: process.env.CI === "true" ? 1 : 0,
  },
});
