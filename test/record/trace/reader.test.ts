import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BlockEncoder } from "../../../src/record/trace/codec.js";
import { MAGIC, packBlock } from "../../../src/record/trace/container.js";
import { readTrace } from "../../../src/record/trace/reader.js";
import type { TraceRecord } from "../../../src/record/trace/records.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-reader-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HEADER = { kind: "header", hermes: "trace", version: 1, started: "", command: ["x"], policies: [] };
const call = (i: number) => ({
  kind: "syscall",
  time: 1_700_000_000 + i,
  pid: 7,
  tid: 7,
  name: "openat",
  args: { dirfd: "AT_FDCWD", filename: `/file/${i}\udc80`, flags: "O_RDONLY" },
  result: 3,
  action: "allow",
});
const RECORDS = [
  HEADER,
  ...Array.from({ length: 100 }, (_, i) => call(i)),
  { kind: "end", time: 1_700_000_100, exitCode: 0 },
];

const lines = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");

function binary(records: object[], perBlock: number): Buffer {
  const parts: Buffer[] = [MAGIC];
  for (let i = 0; i < records.length; i += perBlock) {
    const encoder = new BlockEncoder();
    for (const record of records.slice(i, i + perBlock)) encoder.add(record);
    parts.push(...packBlock(encoder));
  }
  return Buffer.concat(parts);
}

/** What older files end in: an index with an entry for each block, and where it begins. */
function oldIndex(trace: Buffer, blocks: number): Buffer {
  const head = Buffer.alloc(32);
  head.write("HIDX");
  head.writeUInt32LE(blocks * 32, 4);
  head.writeUInt32LE(blocks * 32, 8);
  const trailer = Buffer.alloc(8);
  trailer.writeDoubleLE(trace.length);
  return Buffer.concat([head, Buffer.alloc(blocks * 32, 7), trailer, Buffer.from("HTREND1\n")]);
}

function file(name: string, content: string | Buffer): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

async function read(name: string, options = {}) {
  const records: TraceRecord[] = [];
  const reader = await readTrace(name, (record) => records.push(record), options);
  return { records, reader };
}

const FORMS: [name: string, content: () => string | Buffer][] = [
  ["t.jsonl", () => lines(RECORDS)],
  ["t.jsonl.gz", () => gzipSync(lines(RECORDS))],
  [
    "several.gz",
    () => Buffer.concat([gzipSync(lines(RECORDS.slice(0, 50))), gzipSync(lines(RECORDS.slice(50)))]),
  ],
  ["t.htrace", () => binary(RECORDS, 10)],
  ["older.htrace", () => Buffer.concat([binary(RECORDS, 10), oldIndex(binary(RECORDS, 10), 4)])],
  ["t.htrace.gz", () => gzipSync(binary(RECORDS, 10))],
];

describe("a trace", () => {
  for (const [name, content] of FORMS) {
    it(`reads the same from ${name}`, async () => {
      const { records, reader } = await read(file(name, content()));
      expect(records).toEqual(RECORDS);
      expect(reader).toMatchObject({ ended: true, cut: undefined, missingParts: 0, header: HEADER });
    });

    it(`gives only what happened in a span of time from ${name}`, async () => {
      const { records } = await read(file(name, content()), { from: 1_700_000_020, to: 1_700_000_039 });
      expect(records).toEqual([HEADER, ...Array.from({ length: 20 }, (_, i) => call(20 + i))]);
    });

    it(`reads through a pipe what is in ${name}`, async () => {
      const fifo = join(folder, `${name}.fifo`);
      execFileSync("mkfifo", [fifo]);
      const writer = spawn("sh", ["-c", 'cat "$0" > "$1"', file(name, content()), fifo]);
      expect((await read(fifo)).records).toEqual(RECORDS);
      if (writer.exitCode === null && writer.signalCode === null) await once(writer, "exit");
    });

    it(`reads ${name} up to where it was cut off, wherever that is`, async () => {
      const whole = Buffer.from(content());
      for (const part of [0.3, 0.5, 0.77, 0.99]) {
        const cut = file(`cut-${name}`, whole.subarray(0, Math.floor(whole.length * part)));
        const { records, reader } = await read(cut);
        expect(records).toEqual(RECORDS.slice(0, records.length));
        expect(records.length).toBeLessThanOrEqual(RECORDS.length);
        if (part >= 0.5) expect(records.length).toBeGreaterThan(20);
        if (reader.cut !== undefined)
          expect(reader.cut).toMatch(/cut-.*(:\d+|byte \d+): the trace breaks off/);
      }
    });
  }

  it("ends in zeros after some crashes: they are no damage", async () => {
    const name = file("zeros.htrace", binary(RECORDS, 10));
    appendFileSync(name, Buffer.alloc(5000));
    const { records, reader } = await read(name);
    expect(records).toEqual(RECORDS);
    expect(reader.cut).toMatch(/breaks off here/);
  });
});

describe("a damaged trace", () => {
  const refused = (name: string, content: string | Buffer) => expect(read(file(name, content))).rejects;

  it("is refused with the place of the damage", async () => {
    await refused("bad.jsonl", `${lines([HEADER])}not json\n${lines([call(1)])}`).toThrow(
      /bad\.jsonl:2: this line is not JSON/,
    );
    await refused("number.jsonl", `${lines([HEADER])}5\n`).toThrow(/number\.jsonl:2: this is not a record/);
    await refused("kindless.jsonl", `${lines([HEADER, { a: 1 }])}`).toThrow(/kindless\.jsonl:2: .*no kind/);
    await refused("nameless.jsonl", lines([HEADER, { kind: "syscall" }])).toThrow(
      /nameless\.jsonl:2: .*no name/,
    );
    await refused("garbage", "garbage").toThrow(/garbage:1: this line is not JSON/);
    const bytes = binary(RECORDS, 10);
    const flipped = Buffer.from(bytes);
    const second = bytes.indexOf("HBLK", bytes.indexOf("HBLK") + 4);
    flipped[second + 40]! ^= 0xff;
    await refused("flipped.htrace", flipped).toThrow(new RegExp(`block at byte ${second}: it is damaged`));
    flipped.write("NOPE", second);
    await refused("markless.htrace", flipped).toThrow(new RegExp(`no block at byte ${second}`));
    const zipped = gzipSync(lines(RECORDS));
    zipped[zipped.length >> 1]! ^= 0xff;
    await refused("flipped.gz", zipped).toThrow(/flipped\.gz: its compressed bytes are damaged/);
  });

  it("is told apart from one that cannot be read at all", async () => {
    await expect(read(join(folder, "absent"))).rejects.toThrow(/absent: cannot be read: ENOENT/);
    await expect(read(folder)).rejects.toThrow(/it is a folder/);
    await refused("newer.jsonl", lines([{ ...HEADER, version: 2 }])).toThrow(/newer\.jsonl:1: .*version 2/);
    await refused("t.zst", Buffer.from("28b52ffd04000000", "hex")).toThrow(/zstd/);
    expect((await read(file("empty", ""))).records).toEqual([]);
  });
});

describe("a trace in parts", () => {
  const part = (number: number, records: object[]) => [{ ...HEADER, run: "r1", part: number }, ...records];
  const calls = RECORDS.slice(1);

  it("is read in order, with one header; other runs' parts are left alone", async () => {
    mkdirSync(join(folder, "parts"), { recursive: true });
    file("parts/p.1", lines(part(1, calls.slice(0, 30))));
    file("parts/p.2", binary(part(2, calls.slice(30, 60)), 7));
    file("parts/p.10", lines([{ ...HEADER, run: "other", part: 1 }, call(500)]));
    file("parts/p.txt", "not a part");
    const last = file("parts/p", lines(part(3, calls.slice(60))));
    const { records, reader } = await read(last);
    expect(records.slice(1)).toEqual(calls);
    expect(records[0]).toMatchObject({ part: 1 });
    expect(reader.missingParts).toBe(0);
    rmSync(join(folder, "parts/p.1"));
    expect((await read(last)).reader.missingParts).toBe(1);
    rmSync(join(folder, "parts/p.2"));
    expect((await read(last)).reader.missingParts).toBe(2);
  });
});
