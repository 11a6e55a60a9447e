import { describe, expect, it } from "vitest";
import { decodeText } from "../../../src/nouns/text.js";
import { event, lua } from "./events.js";

/** A repeatable generator: what fails can be looked at again. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state;
  };
}

const EDGES = [
  0n,
  1n,
  -1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
  2n ** 64n - 1n,
];
const random = generator(7);
const values = [...EDGES, ...Array.from({ length: 500 }, () => (BigInt(random()) << 32n) | BigInt(random()))];

describe("a 64-bit argument", () => {
  const policy = lua(`hermes.on("mmap", function(e)
  print(string.format("%x %d", e.args.addr, e.args[1]), math.type(e.args.len))
  return hermes.modify_arg("addr", e.args.addr)
end)
hermes.on("lseek", function(e) return hermes.emulate(e.args.offset + 1) end)
hermes.on_return("lseek", function(e) return hermes.modify_result(e.result) end)`);

  it("is exact in Lua, and exact on its way back", () => {
    for (const value of values) {
      const args = { addr: BigInt.asUintN(64, value), len: 1 };
      const verdict = policy.decide(event("mmap", { registers: [BigInt.asUintN(64, value)], args }));
      const signed = BigInt.asIntN(64, value);
      expect(policy.lines.pop()).toBe(`test: ${BigInt.asUintN(64, value).toString(16)} ${signed}\tinteger`);
      expect(verdict?.change?.args?.addr).toBe(signed);
    }
  });

  it("takes part in arithmetic that wraps as the machine's does", () => {
    for (const value of values) {
      const verdict = policy.decide(event("lseek", { registers: [3n, BigInt.asUintN(64, value)] }));
      expect(verdict?.emulation?.result).toBe(BigInt.asIntN(64, value + 1n));
    }
  });

  it("is exact as a result, too", () => {
    for (const value of values) {
      const resultExact = BigInt.asIntN(64, value);
      const back = event("lseek", { kind: "return", resultExact, result: Number(resultExact) });
      expect(policy.decideReturn(back as never)?.change?.result).toBe(resultExact);
    }
  });
});

describe("a string of any bytes", () => {
  const policy = lua(`hermes.on("openat", function(e)
  local sum = 0
  for i = 1, #e.path do sum = sum + e.path:byte(i) end
  print(#e.path, sum)
  return hermes.redirect(e.path)
end)
hermes.on("write", function(e) return hermes.modify_data(e.data) end)
hermes.on("execve", function(e) return hermes.deny(table.concat(e.argv, "\\0")) end)`);
  const strings = Array.from({ length: 300 }, (_, i) =>
    Buffer.from(Array.from({ length: i }, () => random() >>> (i % 2 ? 24 : 25))),
  );

  it("is the same bytes in Lua, and the same on its way back as a path", () => {
    for (const bytes of strings) {
      const path = decodeText(bytes);
      const verdict = policy.decide(event("openat", { path }));
      expect(policy.lines.pop()).toBe(
        `test: ${bytes.length} ${bytes.reduce((a, b) => a + b, 0)}`
          .replace(" ", " ")
          .replace(/(\d+) (\d+)$/, "$1\t$2"),
      );
      expect(verdict?.change?.to).toBe(path);
    }
  });

  it("is the same bytes as data, up to more than the scratch space holds", () => {
    for (const bytes of [...strings, Buffer.alloc(65_536, 0xfe), Buffer.alloc(300_000, 7)]) {
      const verdict = policy.decide(event("write", { data: bytes }));
      expect(Buffer.compare(Buffer.from(verdict!.change!.data as Uint8Array), bytes)).toBe(0);
    }
  });

  it("is the same among the words of a command", () => {
    for (let i = 0; i + 2 < strings.length; i += 3) {
      const argv = strings.slice(i, i + 3).map((bytes) => decodeText(bytes));
      expect(policy.decide(event("execve", { argv }))?.reason).toBe(
        decodeText(
          Buffer.concat([strings[i]!, Buffer.of(0), strings[i + 1]!, Buffer.of(0), strings[i + 2]!]),
        ),
      );
    }
  });
});
