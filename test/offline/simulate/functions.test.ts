import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { deny } from "../../../src/nouns/verdict.js";
import { readEvents } from "../../../src/offline/simulate/read.js";
import { Simulator } from "../../../src/offline/simulate/simulate.js";
import { definePolicy } from "../../../src/policy/define.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-simulate-"));
afterAll(() => rmSync(folder, { recursive: true }));

const call = (name: string, args: object, more: object = {}) => ({
  ...{ kind: "function", time: 1, pid: 7, tid: 7, name, args, action: "allow", elapsed: 0.001 },
  ...more,
});
const records = [
  {
    kind: "header",
    hermes: "trace",
    version: 1,
    started: "2026-01-01T00:00:00Z",
    command: ["x"],
    policies: [],
  },
  { kind: "exec", time: 0, pid: 7, tid: 7, exe: "/usr/bin/work", argv: ["work"] },
  call("libc!system", { command: "rm -rf /" }, { texts: ["command"], caller: "work!main+0x10", result: 0 }),
  call("libc!open", { path: "/etc/passwd", flags: "O_WRONLY|O_CREAT", mode: "0644" }, { result: 3 }),
  call("libc!read", { fd: 3, buf: "secret", count: 100 }, { result: 6 }),
  call("work!main", { "0": "0x1", "1": "0x7ffc00000000" }, { result: 0 }),
];

describe("policies on recorded calls of functions", () => {
  const file = join(folder, "t.jsonl");
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));

  it("decide as they would on the real ones", async () => {
    const seen: unknown[] = [];
    const policy = definePolicy({
      name: "inside",
      on: {
        "libc!system"(e) {
          seen.push(e.args, e.string(0), e.caller.symbol);
          return deny(`no shell: ${e.args.command}`);
        },
        "libc!op*"(e) {
          seen.push(e.args);
          return undefined;
        },
        "app!main"(e) {
          seen.push(e.name, e.argument(0));
          return undefined;
        },
        "libssl!*"() {
          throw new Error("there is none");
        },
      },
      returns: {
        "libc!read"(e) {
          seen.push(e.args, e.result);
          return undefined;
        },
      },
    });
    const simulator = new Simulator([policy]);
    await readEvents(file, (occurrence) => simulator.take(occurrence));
    const { events, outcomes, problems } = simulator.result();
    expect(problems).toEqual([]);
    expect(events).toBe(4);
    expect(outcomes).toMatchObject([
      { event: 'libc!system "rm -rf /"', decision: { action: "deny", reason: "no shell: rm -rf /" } },
    ]);
    expect(seen).toEqual([
      { command: "rm -rf /" },
      "rm -rf /",
      "main",
      { path: "/etc/passwd", flags: 0o101, mode: 0o644 },
      { fd: 3, buf: Buffer.from("secret"), count: 100 },
      6,
      "work!main",
      1n,
    ]);
  });
});
