import { appendFileSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { RunMetrics } from "../../../src/people/console/run-metrics.js";
import { addRunRecord, type RunRecord } from "../../../src/record/audit/run-log.js";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-metrics-"));
  file = join(folder, "hermes.db.runs");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function refused(count: number): RunRecord {
  const deed = { action: "deny", what: "read /x", call: "openat", policy: "p", count } as const;
  const about = { pid: 1, agent: "hermes run", command: ["x"], workspace: "/w" };
  return { hermes: "run", version: 1, time: 1, started: 1, ...about, refused: [deed], unlisted: 1 };
}

it("counts what runs were refused since it began, also in a file that was begun anew", () => {
  addRunRecord(refused(100), file);
  const metrics = new RunMetrics(file);
  const counted = () => {
    const { refusals, runs } = metrics.numbers([]);
    return [refusals['{action="deny"}'], runs[""]];
  };
  expect(counted()).toEqual([0, 0]);
  addRunRecord(refused(2), file);
  expect(counted()).toEqual([3, 1]);
  appendFileSync(file, "half a line");
  expect(counted()).toEqual([3, 1]);
  appendFileSync(file, "\n");
  addRunRecord(refused(1), file);
  expect(counted()).toEqual([5, 2]);
  renameSync(file, `${file}.1`);
  addRunRecord(refused(1), file);
  expect(counted()).toEqual([7, 3]);
});
