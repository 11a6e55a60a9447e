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
const has = (module: string) => python("-c", `import ${module}`).status === 0;
const reader = join(root, "examples/read_trace.py");

describe("a trace", () => {
  it("is read by the standard library of Python alone", () => {
    const opened = python("-I", reader, trace);
    expect(opened.stderr).toBe("");
    expect(opened.stdout).toMatch(/^1 \/etc\/hostname$/m);
    expect(python("-I", reader, trace, "--errors").stdout).toMatch(/^\d+ openat ENOENT$/m);
  });

  it.skipIf(!has("pandas"))("is read by pandas, as lines and as Parquet", () => {
    const parquet = join(folder, "t.parquet");
    expect(hermes(["query", "--parquet", parquet, trace]).status).toBe(0);
    const script = `import pandas; print(len(pandas.read_json("${trace}", lines=True)) > 10, len(pandas.read_parquet("${parquet}")) > 10)`;
    expect(python("-c", script).stdout).toBe("True True\n");
  });

  it.skipIf(!has("duckdb"))("is read by DuckDB", () => {
    const script = `import duckdb; print(duckdb.sql("SELECT count(*) FROM read_json_auto('${trace}') WHERE name = 'openat'").fetchone()[0] > 1)`;
    expect(python("-c", script).stdout).toBe("True\n");
  });
});
