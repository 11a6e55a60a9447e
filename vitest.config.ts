import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { LONG } from "./test/support/long.js";
import { parts } from "./test/support/parts.js";
import { announce } from "./test/support/quarantine.js";

/** Long files begin first, the longest of all before them, or the others wait for one at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = LONG.findIndex((part) => moduleId.includes(part));
      return found < 0 ? LONG.length : found;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

const { pure, kernel } = parts();
announce();

/** The two parts run one after the other; `--project pure` or `--project kernel` runs one. */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Tests leave nothing running. Those of the resident process start one of their own.
    env: { HERMES_NO_RESIDENT: "1" },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A wait is for a condition: it takes as long as the machine needs, and ends before the test's own time does.
    expect: { poll: { timeout: 100_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "pure",
          include: pure,
          setupFiles: "test/support/pure.ts",
          pool: "forks",
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "kernel",
          include: kernel,
          // Tests of the kernel side start processes, threads and signals of their own: each file gets a process.
          pool: "forks",
          runner: "test/support/quarantine-runner.ts",
          // A file waits for processes about half of its time: on two CPUs, a third one runs meanwhile.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
