import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Long files begin first, the longest of all before them, or the others wait for one at the end. */
const LONG = `
  attacks/attacks transparency/programs transparency/signals test/docs. tools/crash attacks/flips mcp/gateway console/views
  transparency/processes transparency/start-state faults/faults store/postgres. transparency/descriptors ship/package
  backends/podman backends/ssh. learn/loop mcp/server. doors/change approval/processes hooks/fail-closed backends/oci.
  transparency/stdio transparency/terminal backends/crun terminal/exec fence/landlock audit/verify tools/toolbox.
  session/failure console/approvals fence/acts store/sqlite python/rpc lua/hostile hooks/claude-code deed/deed
  session/unprivileged yaml/shipped session/reload
`
  .trim()
  .split(/\s+/);

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
    // A file waits for processes about half of its time: on two CPUs, a third one runs meanwhile.
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Where a red run throws work away, a test that a loaded machine starved gets a second try, and is named in
    // the output. Tests of races forbid it for themselves.
    retry: process.env.CI === "true" ? 1 : 0,
  },
});
