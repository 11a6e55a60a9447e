import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { LANE, MARGIN, RECORDS } from "../../../src/session/ring/lane.js";
import { LaneReader } from "../../../src/session/ring/reader.js";
import { functionStub, syscallStub, type WhenFull } from "../../../src/session/ring/stub.js";
import { program } from "../../support/programs.js";

const RETURN = Uint8Array.of(0xc3);
const NOTHING = new Uint8Array();

/** Runs a stub so many times, in a lane that already has so many unread records; and what it wrote. */
function runStub(code: Uint8Array, times: number, unread = 0) {
  const { status, stdout } = spawnSync(
    program("stub-host"),
    [String(LANE.size), String(times), String(unread)],
    { input: Buffer.concat([code, RETURN]), maxBuffer: 2 * LANE.size },
  );
  expect(status).toBe(0);
  const reader = new LaneReader(Uint8Array.from(stdout).buffer, 0);
  const told: string[] = [];
  const list = (values: Uint32Array) => [0, 2, 4, 6, 8, 10].map((i) => values[i]);
  const times_: number[] = [];
  const tell = (time: number, text: string) => {
    times_.push(time);
    told.push(text);
  };
  reader.read({
    called: (_, time, nr, site, values) => tell(time, `call ${nr} at ${site}: ${list(values)}`),
    returned: (_, time, site, values) => tell(time, `return at ${site}: ${values[0]! > 1}`),
    entered: (_, time, id, values) => tell(time, `function ${id}: ${list(values).slice(0, 3)}`),
  });
  expect(times_).toEqual(times_.toSorted((a, b) => a - b));
  return { told, reader };
}

/** What is behind the call returns to the caller of the stub, so that the jump back is never made. */
const callStub = (whenFull: WhenFull) =>
  syscallStub({ site: 3, table: 0x7000_0000, before: NOTHING, behind: RETURN, back: 0, plain: 0, whenFull })
    .code;

describe("stubs of the fast tier", () => {
  it("record a system call with its arguments and its result, and keep every register that the call keeps", () => {
    const { told, reader } = runStub(callStub("drop"), 2);
    const one = ["call 110 at 3: 1,2,3,4,5,6", "return at 3: true"];
    expect(told).toEqual([...one, ...one]);
    expect(reader.lost).toBe(0);
  });

  it("count a function and record its arguments", () => {
    const { told, reader } = runStub(functionStub({ id: 77, records: true, whenFull: "wait" }).code, 3);
    expect(told).toEqual(Array(3).fill("function 77: 1,2,3"));
    expect(reader.count(77)).toBe(3);
    expect(reader.count(76)).toBe(0);
  });

  it("only count where no policy wants records", () => {
    const { told, reader } = runStub(functionStub({ id: 8191, records: false, whenFull: "wait" }).code, 1000);
    expect(told).toEqual([]);
    expect(reader.count(8191)).toBe(1000);
  });

  it("make the call and count it as lost where the lane is full; functions are counted exactly all the same", () => {
    const room = 5;
    const unread = RECORDS - MARGIN - room;
    const calls = runStub(callStub("drop"), 20, unread);
    // Two records for a call; the last that still found room left the lane one over.
    expect(calls.reader.lost).toBe(20 - Math.ceil(room / 2));
    const functions = runStub(functionStub({ id: 1, records: true, whenFull: "drop" }).code, 20, unread);
    expect(functions.reader.lost).toBe(20 - room);
    expect(functions.reader.count(1)).toBe(20);
  });
});

describe("a reader of lanes", () => {
  const listener = () => {
    const heard: number[] = [];
    return {
      heard,
      called: (_: number, __: number, nr: number) => void heard.push(nr),
      returned: () => {},
      entered: () => {},
    };
  };
  const lane = () => {
    const memory = new ArrayBuffer(LANE.size);
    return { memory, words: new Uint32Array(memory), reader: new LaneReader(memory, 0) };
  };
  const write = (words: Uint32Array, i: number, nr: number, commit = i + 1) => {
    words[LANE.records / 4 + (i % RECORDS) * 16] = commit;
    words[LANE.records / 4 + (i % RECORDS) * 16 + 1] = nr;
  };

  it("waits at a record that is not finished, and counts it as lost once its writer has ended", () => {
    const { words, reader } = lane();
    write(words, 0, 10);
    write(words, 1, 11, 0);
    write(words, 2, 12);
    words[LANE.head / 4] = 3;
    const one = listener();
    expect(reader.read(one)).toBe(1);
    expect(reader.read(one)).toBe(0);
    expect(words[LANE.tail / 4]).toBe(1);
    reader.read(one, true);
    expect(one.heard).toEqual([10, 12]);
    expect(reader.lost).toBe(1);
  });

  it("is not led out of the lane, nor into an endless loop, by a head that makes no sense", () => {
    const { words, reader } = lane();
    words.fill(0xffff_ffff, LANE.records / 4);
    words[LANE.head / 4] = 0xffff_fff0;
    const one = listener();
    expect(reader.read(one, true)).toBeLessThanOrEqual(RECORDS);
    expect(one.heard).toEqual([]);
    expect(reader.lost).toBe(RECORDS);
  });
});
