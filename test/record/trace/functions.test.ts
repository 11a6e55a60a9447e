import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { analyze, collectFacts } from "../../../src/offline/analyze/analyze.js";
import { behaviourOf } from "../../../src/offline/diff/behaviour.js";
import { compare } from "../../../src/offline/diff/diff.js";
import { ChromeExporter } from "../../../src/offline/export/chrome.js";
import { StraceExporter } from "../../../src/offline/export/strace.js";
import { TraceDatabase } from "../../../src/offline/query/database.js";
import { encoderFor } from "../../../src/record/trace/encoders.js";
import { readTrace } from "../../../src/record/trace/reader.js";
import type { FunctionRecord, TraceRecord } from "../../../src/record/trace/records.js";
import {
  type EnterRecord,
  StraceEncoder,
  type StraceOptions,
} from "../../../src/record/trace/strace-encoder.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-functions-"));
afterAll(() => rmSync(folder, { recursive: true }));

const call = (name: string, fields: Partial<FunctionRecord> = {}): FunctionRecord => ({
  kind: "function",
  time: 100,
  pid: 7,
  tid: 7,
  name,
  args: {},
  elapsed: 0.001,
  action: "allow",
  ...fields,
});
const enter = (
  { kind: _, ...record }: FunctionRecord,
  known = Object.keys(record.args).length,
): EnterRecord => ({
  kind: "enter",
  record,
  known,
});

const getenv = call("libc!getenv", { args: { name: "HOME" }, texts: ["name"], result: "/root" });
const read = call("libc!read", {
  args: { fd: 3, buf: { start: "abc", length: 4096 }, count: 4096 },
  result: 4096,
  depth: 1,
});
const open = call("libc!open", {
  args: { path: "/nothing", flags: "O_RDONLY|O_CLOEXEC" },
  result: -1,
  failed: true,
  errno: "ENOENT",
});
const printf = call("libc!printf", {
  args: { format: "%s %d\n", "...": ["x", 5] },
  texts: [".../0"],
  result: 4,
});
const sleep = call("libc!nanosleep", { args: { time: { tv_sec: 1, tv_nsec: 0 }, left: null }, left: "jump" });

function shown(
  records: readonly (TraceRecord | EnterRecord)[],
  options: Partial<StraceOptions> = {},
): string {
  const encoder = new StraceEncoder({
    descriptors: false,
    strings: 32,
    elapsed: false,
    pids: "terminal",
    colour: false,
    ...options,
  });
  for (const record of records) encoder.add(record);
  return encoder.finish().toString();
}

describe("calls of functions as text", () => {
  it("read as C, texts quoted and names not", () => {
    const { elapsed: _, ...unreturned } = sleep;
    expect(shown([getenv, open, printf, unreturned])).toBe(
      [
        'libc!getenv("HOME")                     = "/root"',
        'libc!open("/nothing", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)',
        'libc!printf("%s %d\\n", "x", 5)          = 4',
        "libc!nanosleep({tv_sec=1, tv_nsec=0}, NULL) = ?",
        "",
      ].join("\n"),
    );
  });

  it("stand on one line when nothing comes between call and return", () => {
    expect(shown([enter(getenv), getenv])).toBe('libc!getenv("HOME")                     = "/root"\n');
    expect(shown([enter(read, 1), read])).toBe('  libc!read(3, "abc"..., 4096)          = 4096\n');
  });

  it("are cut and resumed when something does, as strace does it", () => {
    const outer = call("app!main", { args: { argc: 1 }, result: 0 });
    const other = call("libc!getpid", { tid: 8, result: 7 });
    expect(shown([enter(outer), enter(read, 1), other, read, outer])).toBe(
      [
        "app!main(1 <unfinished ...>",
        "  libc!read(3 <unfinished ...>",
        "[pid     8] libc!getpid()               = 7",
        '[pid     7]   <... libc!read resumed>"abc"..., 4096) = 4096',
        "[pid     7] <... app!main resumed>)     = 0",
        "",
      ].join("\n"),
    );
  });

  it("are counted with the system calls", () => {
    const text = shown([enter(getenv), getenv, open], { summary: "only" });
    expect(text).toMatch(/ 1 +libc!getenv\n/);
    expect(text).toMatch(/ 1 +1 libc!open\n/);
  });

  it("show nothing that a terminal would obey", () => {
    expect(shown([call("app!\u001b[2J", { args: { s: "\u001b[2J" }, result: 0 })])).not.toContain("\u001b");
  });
});

describe("calls of functions in a trace", () => {
  const header: TraceRecord = {
    kind: "header",
    hermes: "trace",
    version: 1,
    started: "2026-01-01T00:00:00Z",
    command: ["x"],
    policies: [],
  };
  const inner = call("libc!malloc", { depth: 1, elapsed: 0.25, caller: "app!work+0x10", result: "0x5000" });
  const outer = call("app!work", { elapsed: 1, caller: "app!main+0x20", result: 1 });
  const records: TraceRecord[] = [
    header,
    getenv,
    open,
    inner,
    inner,
    outer,
    { kind: "end", time: 102, exitCode: 0 },
  ];
  const write = (form: "lines" | "gzip" | "binary") => {
    const encoder = encoderFor(form);
    for (const record of records) encoder.add(record);
    const file = join(folder, `t.${form}`);
    writeFileSync(file, encoder.finish());
    return file;
  };

  it.each(["lines", "gzip", "binary"] as const)("come back as they were written: %s", async (form) => {
    const back: TraceRecord[] = [];
    await readTrace(write(form), (record) => back.push(record));
    expect(back).toEqual(records);
  });

  it("are analysed: how often, how long, by whom", async () => {
    const report = await analyze(write("lines"));
    expect(report.trace.functions).toBe(5);
    expect(report.functions.map(({ name, count, failed }) => ({ name, count, failed }))).toEqual([
      { name: "libc!malloc", count: 2, failed: 0 },
      { name: "app!work", count: 1, failed: 0 },
      { name: "libc!getenv", count: 1, failed: 0 },
      { name: "libc!open", count: 1, failed: 1 },
    ]);
    expect(report.functions[1]).toMatchObject({
      seconds: 1,
      own: 0.5,
      callers: [{ caller: "app!main+0x20", count: 1 }],
    });
    expect(report.functions[0]).toMatchObject({ seconds: 0.5, own: 0.5, longest: 0.25 });
  });

  it("are asked for in SQL", async () => {
    const database = await TraceDatabase.load(write("binary"));
    const { rows } = database.query(
      "SELECT name, count(*), max(caller), max(depth) FROM functions GROUP BY name ORDER BY 1",
    );
    expect([...rows]).toEqual([
      ["app!work", 1, "app!main+0x20", null],
      ["libc!getenv", 1, null, null],
      ["libc!malloc", 2, "app!work+0x10", 1],
      ["libc!open", 1, null, null],
    ]);
    database.close();
  });

  it("are exported", () => {
    const chrome = new ChromeExporter("all");
    const text = records.map((record) => chrome.add(record)).join("") + chrome.end();
    const slices = JSON.parse(text).traceEvents.filter(({ ph }: { ph: string }) => ph === "X");
    expect(slices.map(({ name, dur }: { name: string; dur: number }) => [name, dur])).toContainEqual([
      "app!work",
      1e6,
    ]);
    const strace = new StraceExporter("all");
    expect(records.map((record) => strace.add(record)).join("")).toContain('libc!getenv("HOME")');
  });

  it("are compared", async () => {
    const { facts } = await collectFacts(write("lines"));
    const before = behaviourOf(facts);
    const without = join(folder, "without.jsonl");
    writeFileSync(without, `${JSON.stringify(header)}\n${JSON.stringify(getenv)}\n`);
    const after = behaviourOf((await collectFacts(without)).facts);
    expect(compare(after, before).functions.added.map(({ name }) => name)).toEqual([
      "app!work",
      "libc!malloc",
      "libc!open",
    ]);
  });
});
