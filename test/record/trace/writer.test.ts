import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HermesError } from "../../../src/nouns/errors.js";
import { BLOCK_SIZE, encoderFor, FORMS, formOf } from "../../../src/record/trace/encoders.js";
import { readTrace } from "../../../src/record/trace/reader.js";
import type { CallRecord, TraceRecord } from "../../../src/record/trace/records.js";
import { TraceWriter, type WriterOptions } from "../../../src/record/trace/writer.js";
import { HERMES, hermes } from "../../support/cli.js";
import { until } from "../../support/until.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-writer-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NAMES = { lines: "t.jsonl", gzip: "t.jsonl.gz", binary: "t.htrace" };

function writer(file: string, options: Partial<WriterOptions> = {}) {
  const errors: HermesError[] = [];
  const form = formOf(file);
  const made = new TraceWriter({
    file,
    encoder: () => encoderFor(form),
    block: BLOCK_SIZE[form],
    overflow: "wait",
    header: (part) => ({ kind: "header", hermes: "trace", version: 1, run: "r", part }),
    onError: (error) => errors.push(error),
    ...options,
  });
  return { writer: made, errors };
}

const call = (i: number) => ({
  kind: "syscall",
  time: i,
  pid: 1,
  tid: 1,
  name: "read",
  args: { i: `v${i % 97}` },
});

async function read(file: string) {
  const records: TraceRecord[] = [];
  const reader = await readTrace(file, (record) => records.push(record));
  return { records, reader, calls: records.filter((r): r is CallRecord => r.kind === "syscall") };
}

for (const form of FORMS)
  describe(`a trace of the form ${form}`, () => {
    it("holds what was written, in order", async () => {
      const file = join(folder, NAMES[form]);
      const { writer: w } = writer(file);
      for (let i = 0; i < 20_000; i++) w.write(call(i), false, i);
      w.close();
      expect((await read(file)).calls.map((c) => c.time)).toEqual(
        Array.from({ length: 20_000 }, (_, i) => i),
      );
      expect(w).toMatchObject({ records: 20_000, lost: { observations: 0, decisions: 0 } });
      expect(statSync(file).mode & 0o777).toBe(0o600);
    });

    it("is rotated: no file grows beyond the limit, only the last ones are kept, and they read as one", async () => {
      const file = join(folder, `rotated-${NAMES[form]}`);
      const size = 64 * 1024;
      const { writer: w, errors } = writer(file, { size, keep: 3, block: size / 4 });
      for (let i = 0; i < 100_000; i++) w.write({ ...call(i), noise: Math.random().toString(36) }, false, i);
      w.close();
      expect(errors).toEqual([]);
      const parts = readdirSync(folder).filter((name) => name.startsWith(`rotated-${NAMES[form]}`));
      expect(parts).toHaveLength(3);
      for (const part of parts) expect(statSync(join(folder, part)).size).toBeLessThanOrEqual(size);
      const { calls, reader } = await read(file);
      expect(reader.missingParts).toBeGreaterThan(0);
      expect(calls.map((c) => c.time)).toEqual(calls.map((_, i) => 100_000 - calls.length + i));
    });

    it("can be read after a kill -9 of everything, up to its last block", async () => {
      const file = join(folder, `killed-${NAMES[form]}`);
      const run = spawn(
        HERMES,
        [
          "run",
          "-q",
          "-t",
          file,
          "-e",
          "read,getppid",
          "--",
          "sh",
          "-c",
          "while :; do read x < /etc/hostname; done",
        ],
        { stdio: "ignore", detached: true },
      );
      await until(
        () => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) >= 2000,
        "2000 bytes of the trace",
      );
      process.kill(run.pid!, "SIGKILL");
      await once(run, "exit");
      const { calls, reader } = await read(file);
      expect(calls.length).toBeGreaterThan(10);
      expect(reader.ended).toBe(false);
    });
  });

describe("a trace that cannot be written", () => {
  it("does not lose decisions while a slow reader makes it drop observations, and says how many", async () => {
    const fifo = join(folder, "slow");
    execFileSync("mkfifo", [fifo]);
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const { writer: w, errors } = writer(fifo, { overflow: "drop", block: 4096 });
    for (let i = 0; i < 50_000; i++)
      w.write({ ...call(i), ...(i % 100 === 0 && { policy: "p" }) }, i % 100 === 0, i);
    const got: Buffer[] = [];
    const piece = Buffer.alloc(1 << 16);
    const drain = () => {
      try {
        for (let n = readSync(reader, piece); n > 0; n = readSync(reader, piece))
          got.push(Buffer.from(piece.subarray(0, n)));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      }
    };
    drain();
    for (let i = 50_000; i < 50_010; i++) w.write(call(i), false, i);
    drain();
    w.close();
    drain();
    closeSync(reader);
    const records = Buffer.concat(got)
      .toString()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    expect(errors).toEqual([]);
    expect(records.filter((r) => r.policy === "p").map((r) => r.time)).toEqual(
      Array.from({ length: 500 }, (_, i) => i * 100),
    );
    const told = records.filter((r) => r.kind === "dropped").reduce((sum, r) => sum + r.count, 0);
    expect(told).toBe(w.lost.observations);
    expect(told).toBeGreaterThan(1000);
    expect(records.filter((r) => r.kind === "syscall").length + told).toBe(50_010);
    expect(w.lost.decisions).toBe(0);
  });

  it("counts what a full disk kept out, decisions and observations apart", () => {
    const { writer: w, errors } = writer("/dev/full", { block: 1000 });
    for (let i = 0; i < 1000; i++) w.write(call(i / 1000), i % 10 === 0, i / 1000);
    w.close();
    expect(w.lost).toEqual({ observations: 900, decisions: 100 });
    expect(errors.map((error) => error.message)).toEqual(["writing the trace to /dev/full failed: ENOSPC"]);
  });

  it("ends the run, unless it is to go on: then enforcement goes on and its end says what is missing", () => {
    const policy = join(folder, "p.yaml");
    execFileSync("sh", [
      "-c",
      `printf 'name: p\\nrules:\\n  - { id: no-host, deny: read, path: /etc/hostname }\\n' > ${policy}`,
    ]);
    const run = (...more: string[]) =>
      hermes([
        "run",
        "--json",
        "-p",
        policy,
        "-t",
        "/dev/full",
        ...more,
        "--",
        "sh",
        "-c",
        "for i in $(seq 300); do cat /etc/hostname; done 2>/dev/null; exit 7",
      ]);
    const stopped = run();
    expect(stopped).toMatchObject({ status: 125, stdout: "" });
    expect(stopped.stderr).toMatch(/writing the trace to \/dev\/full failed: ENOSPC/);
    const went = run("--on-trace-error", "continue");
    expect(went).toMatchObject({ status: 7, stdout: "" });
    const result = JSON.parse(went.stderr.trim().split("\n").at(-1)!);
    expect(result.trace.complete).toBe(false);
    expect(result.trace.lost.decisions).toBeGreaterThanOrEqual(300);
    expect(result.summary.byAction.deny).toBe(300);
    expect(went.stderr).toMatch(/the run goes on, and its end says what was not recorded/);
  });

  it("is refused from the start where that is clear", () => {
    const refused = (...args: string[]) => hermes(["run", ...args, "--", "true"]);
    expect(refused("-t", "/no/such/folder/t")).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/cannot write the trace to .*ENOENT/),
    });
    expect(refused("-t", "/dev/null", "--trace-size", "1M")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/only a plain file can be rotated/),
    });
    expect(refused("-t", join(folder, "x"), "--trace-size", "1")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/at least/),
    });
    expect(refused("-t", join(folder, "x"), "--trace-size", "lots")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/such as 64M/),
    });
    expect(refused("-t", join(folder, "x"), "--trace-keep", "2")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/needs --trace-size, which says when/),
    });
    expect(refused("-t", join(folder, "x"), "--trace-format", "xml")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/lines or gzip or binary/),
    });
  });
});
