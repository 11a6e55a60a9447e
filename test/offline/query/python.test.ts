import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermes } from "../../support/cli.js";
import { root } from "../../support/root.js";

let folder: string;
let trace: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-python-"));
  trace = join(folder, "t.jsonl");
  expect(hermes(["run", "-q", "-t", trace, "--", "cat", "/etc/hostname", "/no-such-file"]).status).toBe(1);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const python = (...args: string[]) => spawnSync("python3", args, { encoding: "utf8", timeout: 60_000 });
const reader = join(root, "examples/read_trace.py");

describe("a trace", () => {
  it("is read by the standard library of Python alone", () => {
    const opened = python("-I", reader, trace);
    expect(opened.stderr).toBe("");
    expect(opened.stdout).toMatch(/^1 \/etc\/hostname$/m);
    expect(python("-I", reader, trace, "--errors").stdout).toMatch(/^\d+ openat ENOENT$/m);
  });
});
