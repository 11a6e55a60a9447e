import { describe, expect, it } from "vitest";
import { BlockEncoder, decodeBlock } from "../../../src/record/trace/codec.js";
import { packBlock, readBlockHeader, unpackBlock } from "../../../src/record/trace/container.js";

function roundTrip(...records: object[]): object[] {
  const encoder = new BlockEncoder();
  for (const record of records) encoder.add(record);
  const [head, stored] = packBlock(encoder);
  return decodeBlock(unpackBlock(stored!, readBlockHeader(head!)!));
}

describe("the binary form of records", () => {
  it("gives back every kind of value", () => {
    const numbers = [0, 1, 127, 128, 2 ** 31, 2 ** 49 - 1, 2 ** 49, 2 ** 53, 1e300, -1, -4095, -(2 ** 52)];
    const fractions = [0.5, 0.000001, 12.345678, -0.25, 1e-9, Math.PI, -0, Number.MAX_VALUE];
    const texts = ["", "a", "é", "日本", "😀", "\0", "x".repeat(5000), "x".repeat(512), "x".repeat(513)];
    const record = { numbers, fractions, texts, nothing: null, yes: true, no: false, nested: [{ a: [{}] }] };
    expect(roundTrip(record, record)).toEqual([record, record]);
  });

  it("keeps names that are not UTF-8 apart", () => {
    const texts = ["\udc80", "a\udcffb", "é\udc80é", "\udc80".repeat(600), "😀\udc9f\udc80"];
    expect(roundTrip({ texts })).toEqual([{ texts }]);
  });

  it("keeps times to the bit, in any order, and knows the first and the last", () => {
    const times = [1_700_000_000.123457, 1_700_000_000.1, 1_700_000_001, 12.5, 1_700_000_000.1234567].map(
      (time) => ({ kind: "x", time }),
    );
    expect(roundTrip(...times)).toEqual(times);
    const encoder = new BlockEncoder();
    for (const record of times) encoder.add(record);
    expect([encoder.from, encoder.to]).toEqual([12.5, 1_700_000_001]);
  });

  it("is the same from block to block: nothing is remembered", () => {
    const encoder = new BlockEncoder();
    const record = { kind: "syscall", name: "openat", args: { filename: "/etc/passwd" } };
    encoder.add(record);
    const first = Buffer.from(encoder.take());
    encoder.add(record);
    expect(encoder.take().equals(first)).toBe(true);
  });

  it("refuses any bytes that are not a block", () => {
    const encoder = new BlockEncoder();
    encoder.add({ kind: "syscall", list: [1, "text", { deep: 2.5 }] });
    const good = Buffer.from(encoder.take());
    for (let i = 0; i < good.length; i++)
      for (const byte of [0, 0x55, 0xff]) {
        const bad = Buffer.from(good);
        bad[i] = byte;
        try {
          decodeBlock(bad);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }
    expect(() => decodeBlock(good.subarray(0, good.length - 1))).toThrow(RangeError);
  });
});
