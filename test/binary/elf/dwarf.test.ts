import { describe, expect, it } from "vitest";
import { BadDwarf, DwarfBytes, DwarfCursor, formOf, readFormNumber } from "../../../src/binary/elf/index.js";
import { Random } from "../../support/random.js";

const over = (...bytes: number[]) => new DwarfCursor(new DwarfBytes(Uint8Array.from(bytes)));
const u64 = (value: bigint) => Buffer.from(new BigUint64Array([BigInt.asUintN(64, value)]).buffer);

/** LEB128 as DWARF 5, 7.6 defines it. */
function leb(value: bigint, signed: boolean): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; ) {
    const low = Number(rest & 127n);
    rest >>= 7n;
    const done = signed ? (rest === 0n && low < 64) || (rest === -1n && low >= 64) : rest === 0n;
    bytes.push(done ? low : low | 128);
    if (done) return bytes;
  }
}

describe("the cursor over DWARF", () => {
  it("reads numbers of every width, with and without a sign", () => {
    const bytes = [0x80, 0xff, 0xff, 0xfe, 0xff, 1, 2, 3, 0xff, 0xff, 0xff, 0xff];
    const cursor = over(...bytes, 0xfd, 0xff, 0xff, 0xff);
    expect([cursor.u8(), cursor.s8(), cursor.u16() !== 0, cursor.s16()]).toEqual([128, -1, true, 511]);
    expect([cursor.u16(), cursor.u32(), cursor.s32()]).toEqual([0x302, 0xffffffff, -3]);
    expect(over(1, 2, 3).u24()).toBe(0x030201);
    for (const value of [0n, 1n, 2n ** 32n, 2n ** 53n - 1n, -1n, -(2n ** 40n)]) {
      expect(over(...u64(value)).s64()).toBe(Number(value));
      expect(over(...u64(value)).u64()).toBe(Number(BigInt.asUintN(64, value)));
    }
  });

  it("reads LEB128 numbers as they were written", () => {
    const random = new Random(18);
    for (let i = 0; i < 5000; i++) {
      const value = BigInt(random.below(2 ** 30)) << BigInt(random.below(23));
      const read = [
        over(...leb(value, false)).uleb(),
        over(...leb(value, true)).sleb(),
        -over(...leb(-value, true)).sleb(),
      ];
      if (read.some((one) => one !== Number(value))) expect(read).toEqual(Array(3).fill(Number(value)));
    }
  });

  it("refuses numbers and texts that do not end", () => {
    expect(() => over(...new Array(40).fill(0x80)).uleb()).toThrow(BadDwarf);
    expect(() => over(...new Array(40).fill(0xff)).sleb()).toThrow(BadDwarf);
    expect(() => over(0x80).uleb()).toThrow(BadDwarf);
    expect(() => over(65, 66, 67).text()).toThrow(BadDwarf);
    expect(() => over(65, 66, 67, 0).text(2)).toThrow(BadDwarf);
    expect(over(65, 66, 67, 0).text(3)).toBe("ABC");
  });

  it("never reads past its end, whatever it is asked for", () => {
    const random = new Random(7);
    const whole = new DwarfBytes(Uint8Array.from({ length: 64 }, () => random.below(256)));
    const reads = [
      "u8",
      "s8",
      "u16",
      "s16",
      "u24",
      "u32",
      "s32",
      "u64",
      "s64",
      "uleb",
      "sleb",
      "text",
    ] as const;
    let refused = 0;
    for (let i = 0; i < 20_000; i++) {
      const at = random.below(65);
      const end = at + random.below(65 - at);
      const cursor = new DwarfCursor(whole, at, end);
      try {
        const read = reads[random.below(reads.length + 1)];
        if (read) cursor[read]();
        else cursor.skip([-1, random.below(80), Number.NaN, Infinity][random.below(4)]!);
      } catch (error) {
        if (!(error instanceof BadDwarf)) throw error;
        refused++;
      }
      if (!(cursor.at >= at && cursor.at <= end)) expect.fail(`at ${cursor.at}, between ${at} and ${end}`);
    }
    expect(refused).toBeGreaterThan(1000);
    for (const [at, end] of [
      [-1, 4],
      [5, 4],
      [0, 65],
      [Number.NaN, 4],
    ])
      expect(() => new DwarfCursor(whole, at, end)).toThrow(BadDwarf);
  });

  it("reads every form it knows within bounds, and refuses the others", () => {
    const unit = { version: 5, addressSize: 8, is64: false };
    const known = [...Array(0x2000).keys()].filter((code) => {
      try {
        return formOf(code) !== undefined;
      } catch (error) {
        if (!(error instanceof BadDwarf)) throw error;
        return false;
      }
    });
    expect(known).toHaveLength(47);
    for (const code of known) {
      const cursor = over(1, ...new Array(63).fill(0));
      readFormNumber(cursor, formOf(code), unit);
      expect(cursor.at).toBeLessThanOrEqual(16);
      if (formOf(code).width !== 0)
        expect(() => readFormNumber(over(), formOf(code), unit)).toThrow(BadDwarf);
    }
  });
});
