import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermes } from "../../support/cli.js";
import { program } from "../../support/programs.js";
import { root } from "../../support/root.js";

interface Record_ {
  readonly kind: string;
  readonly pid: number;
  readonly tid: number;
  readonly time: number;
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly result?: number;
  readonly errno?: string;
  readonly elapsed?: number;
  readonly action: string;
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-ring-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const records = (file: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record_);

describe("hermes run --fast --trace", () => {
  const THREADS = 16;
  const CALLS = 2000;
  let all: Record_[];
  let numbers: number[];
  let summary: {
    fast: { lost: number; patched: number; counts: Record<string, number> };
    trace: { complete: boolean };
  };
  const of = (name: string) => all.filter((record) => record.name === name);

  beforeAll(() => {
    const file = join(folder, "observed.jsonl");
    const ran = hermes([
      "run",
      "--json",
      "--fence",
      "none",
      "--fast",
      "--trace",
      file,
      "--",
      program("observed"),
    ]);
    expect(ran.status).toBe(0);
    numbers = ran.stdout.trim().split(" ").map(Number);
    summary = JSON.parse(ran.stderr);
    all = records(file);
  });

  it("misses no call of 16 threads, and knows which thread made it", () => {
    expect(summary.fast.lost).toBe(0);
    expect(summary.trace.complete).toBe(true);
    const byThread = new Map<number, number>();
    for (const { tid, pid, result } of of("getppid")) {
      expect(pid).toBe(numbers[0]);
      expect(result).toBeGreaterThan(0);
      byThread.set(tid, (byThread.get(tid) ?? 0) + 1);
    }
    expect([...byThread.values()]).toEqual(Array(THREADS).fill(CALLS));
  });

  it("tells the calls of handlers that interrupt others, and that a call left by a jump never returned", () => {
    const [interrupted] = numbers.slice(5);
    expect(of("getegid")).toHaveLength(interrupted!);
    expect(of("getgid").length).toBeGreaterThanOrEqual(CALLS);
    expect(of("getgid").every(({ result }) => result !== undefined)).toBe(true);
    expect(of("pause").filter(({ result }) => result === undefined)).toHaveLength(3);
  });

  it("knows whose call it was after fork, vfork and clone(CLONE_VM), and follows programs that are started", () => {
    const [, forked, vforked, spawned, cloned] = numbers;
    expect(of("geteuid").map(({ pid }) => pid)).toEqual(Array(7).fill(forked));
    expect(of("lseek").filter(({ args }) => args.fd === 99)).toMatchObject([
      { pid: vforked, errno: "EBADF" },
    ]);
    expect(of("getpgrp").map(({ pid }) => pid)).toEqual(Array(10).fill(cloned));
    for (const pid of [vforked, spawned]) expect(of("brk").some((record) => record.pid === pid)).toBe(true);
  });

  it("has arguments, results and times as the ordinary door would tell them", () => {
    const [main] = numbers;
    expect(of("close").filter(({ args }) => args.fd === 77)).toMatchObject([
      { pid: main, result: -9, errno: "EBADF" },
    ]);
    const [wrote] = of("write").filter(({ pid }) => pid === main);
    expect(wrote).toMatchObject({ args: { fd: 1, buf: expect.stringMatching(/^0x[0-9a-f]+$/) } });
    expect(wrote!.result).toBe(wrote!.args.count);
    const waited = of("wait4").filter(({ pid }) => pid === main);
    expect(waited.map(({ result }) => result)).toEqual(numbers.slice(1, 5));
    expect(waited.every(({ elapsed }) => elapsed! > 0)).toBe(true);
    const end = all.find(({ kind }) => kind === "end")!.time;
    const begin = all.find(({ kind }) => kind === "exec")!.time;
    for (const { kind, time } of all)
      if (kind === "syscall")
        expect(Math.abs(time - Math.min(Math.max(time, begin - 1), end))).toBeLessThan(0.01);
  });
});

describe("the fast tier", () => {
  it("says that it is cooperative, and records functions: by a jump where one fits, else by a site", () => {
    const file = join(folder, "functions.jsonl");
    const script = `
      import { run } from "hermes-runtime";
      const trace = { file: ${JSON.stringify(file)}, events: [], functions: ["app!observed", "libc!getenv", "libc!abs"] };
      const { fast, exitCode } = await run({ command: [${JSON.stringify(program("observed"))}], fence: "none", fast: true, trace });
      console.error(JSON.stringify({ fast, exitCode }));`;
    const ran = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: root,
      encoding: "utf8",
    });
    const { fast, exitCode } = JSON.parse(ran.stderr.trim().split("\n").at(-1)!);
    expect(exitCode).toBe(0);
    const name = Object.keys(fast.counts).find((each) => each.endsWith("!observed"))!;
    expect(fast.counts[name]).toBe(16 * 2000);
    expect(fast.lost).toBe(0);
    const seen = records(file).filter((record) => record.kind === "function" && record.name === name);
    expect(seen).toHaveLength(16 * 2000);
    expect(new Set(seen.map(({ args }) => args.arg1))).toEqual(new Set(["0x7"]));
    const summary = hermes(["run", "--fence", "none", "--fast", "--trace", "/dev/null", "--", "true"]).stderr;
    expect(summary).toMatch(/fast tier \(cooperative\): [\d,]+ calls recorded inside the program/);
  });

  it("never decides: a call that a policy decides on keeps its door", () => {
    const policy = join(folder, "policy.ts");
    writeFileSync(
      policy,
      `import { definePolicy, deny } from "hermes-runtime";
export default definePolicy({ name: "p", on: { getppid: () => deny("There is none.", "ENOSYS") } });`,
    );
    const file = join(folder, "decided.jsonl");
    const ran = hermes(
      [
        "run",
        "--json",
        "--fence",
        "none",
        "--fast",
        "-p",
        policy,
        "--trace",
        file,
        "-e",
        "getppid,getgid",
        "--",
      ].concat([
        "/usr/bin/python3",
        "-c",
        "import os; print(os.getgid())\ntry: print(os.getppid())\nexcept OSError: print('refused')",
      ]),
    );
    expect(ran.stdout.split("\n")[0]).toBe(String(process.getgid!()));
    const decided = records(file).filter(({ name }) => name === "getppid");
    expect(decided).toMatchObject([{ action: "deny", errno: "ENOSYS", policy: "p" }]);
    expect(records(file).filter(({ name }) => name === "getgid").length).toBeGreaterThan(0);
  });

  it("changes nothing of what ordinary programs do and print", () => {
    const commands = [
      [
        "/usr/bin/python3",
        "-c",
        "import threading,subprocess; print(subprocess.check_output(['echo','hi']))",
      ],
      ["bash", "-c", "for i in 1 2 3; do (exit $i); echo $?; done; kill -TERM $$"],
      ["perl", "-e", '$SIG{ALRM}=sub{print "alarm\\n"; exit 9}; alarm 1; select undef,undef,undef,5;'],
    ];
    for (const command of commands) {
      const plain = hermes(["run", "-q", "--fence", "none", "--", ...command]);
      const fast = hermes(["trace", "--fast", "-o", "/dev/null", "--", ...command]);
      expect([fast.stdout, fast.status]).toEqual([plain.stdout, plain.status]);
    }
  });
});
