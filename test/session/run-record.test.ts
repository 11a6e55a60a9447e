import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ControlledRun } from "../../src/cli/run/controlled-run.js";
import { RunRecorder } from "../../src/cli/run/record-run.js";
import type { DecidedCallCount } from "../../src/session/summary.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-record-"));
  vi.stubEnv("HERMES_HOME", folder);
  vi.stubEnv("HERMES_STORE", "");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const run = {
  options: { command: ["x"], policies: [] },
  agent: "hermes run",
  started: 1,
  quiet: false,
} as unknown as ControlledRun;
const deed = (what: string, count: number): DecidedCallCount => ({
  ...{ what, count, call: "openat", about: {}, action: "deny", policy: "p", version: "1" },
});

it("records of a long run only what has happened since its last record", async () => {
  const recorder = new RunRecorder(run);
  await recorder.record({ deeds: [deed("a", 2)], byAction: { deny: 5 } });
  await recorder.record({ deeds: [deed("a", 2)], byAction: { deny: 5 } });
  await recorder.record({ deeds: [deed("a", 3), deed("b", 1)], byAction: { deny: 8 } });
  const records = readFileSync(join(folder, "hermes.db.runs"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(
    records.map(({ refused, unlisted }) => [
      refused.map(({ what, count }: DecidedCallCount) => `${what}${count}`),
      unlisted,
    ]),
  ).toEqual([
    [["a2"], 3],
    [["a1", "b1"], 1],
  ]);
});
