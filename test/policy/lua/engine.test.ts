import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { LuaEngine } from "../../../src/policy/lua/engine.js";
import { meter } from "../../../src/policy/lua/meter.js";
import { openLibraries } from "../../../src/policy/lua/sandbox.js";
import { compile } from "../../../src/policy/lua/webassembly.js";
import { cpuMs } from "../../support/cpu.js";
import { event, lua } from "./events.js";

const BUDGETS = { fuel: 1_000_000, memory: 32 * 1024 * 1024 };

function engine(): LuaEngine {
  const made = new LuaEngine("chunk", BUDGETS);
  openLibraries(made);
  return made;
}

/** What a piece of Lua returns. */
function run(text: string, on = engine()): unknown {
  on.load(Buffer.from(text));
  on.call(0, 1);
  try {
    return on.value(on.thread, -1);
  } finally {
    on.clear();
  }
}

describe("the meter", () => {
  const binary = readFileSync(join(dirname(createRequire(import.meta.url).resolve("wasmoon")), "glue.wasm"));

  it("leaves a valid module that is a little longer", () => {
    const metered = meter(binary);
    expect(() => compile(metered.binary)).not.toThrow();
    expect(metered.binary.length / binary.length).toBeLessThan(1.15);
    expect(metered.guarded).toBeGreaterThan(150);
  });

  it("refuses what it does not understand", () => {
    expect(() => meter(binary.subarray(0, 1000))).toThrow(RangeError);
    expect(() => meter(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]))).toThrow(RangeError);
  });
});

describe("the interpreter", () => {
  it("computes as Lua 5.4 does", () => {
    expect(run("return _VERSION")).toBe("Lua 5.4");
    expect(
      run("local t = {} for w in ('the quick fox'):gmatch('%a+') do t[#t + 1] = w end return t"),
    ).toEqual(["the", "quick", "fox"]);
    expect(run("return ('%5.2f|%q|%x'):format(3.14159, 'a\\n', 255)")).toBe(' 3.14|"a\\\n"|ff');
    expect(run("return { 7 // 2, 7 / 2, 3 | 4, 1 << 62, 2^0.5 > 1, #'abc', 'a' .. 1 }")).toEqual([
      3,
      3.5,
      7,
      1n << 62n,
      true,
      3,
      "a1",
    ]);
    expect(run("return select('#', pcall(error, { 1 }))")).toBe(2);
    expect(run("local t = { 5, 2, 9 } table.sort(t, function(a, b) return a > b end) return t")).toEqual([
      9, 5, 2,
    ]);
    expect(
      run(
        "local c = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b * 2 end) return { c(1), c(10) }",
      ),
    ).toEqual([2, 20]);
    expect(run("return utf8.char(228, 8364)")).toBe("ä€");
    expect(run("local ok, err = xpcall(error, function(m) return 'caught ' .. m end, 'x') return err")).toBe(
      "caught x",
    );
    expect(
      run(
        "local log = {} do local a <close> = setmetatable({}, { __close = function() log[1] = 'closed' end }) end return log",
      ),
    ).toEqual(["closed"]);
  });

  it("uses fuel in proportion to what it does, the same on every run", () => {
    const used = (text: string) => {
      const on = engine();
      run("return 1", on);
      on.load(Buffer.from(text));
      on.machine.fuel = 10_000_000;
      on.x.lua_pcallk(on.thread, 0, 0, 0, 0, 0);
      return 10_000_000 - on.machine.fuel;
    };
    const small = used("for i = 1, 1000 do end");
    expect(used("for i = 1, 1000 do end")).toBe(small);
    expect(used("for i = 1, 100000 do end") / small).toBeGreaterThan(20);
    expect(used("local s = ('x'):rep(100000) return s:find('y')")).toBeGreaterThan(100_000);
  });

  it("has work for a thousand times the instructions that a policy needs", () => {
    expect(run("local n = 0 for i = 1, 100000 do n = n + i end return n")).toBe(5_000_050_000);
  });

  it("refuses compiled code", () => {
    expect(() => run("\u001bLuaT")).toThrow(/binary/);
  });

  it("passes values through unchanged", () => {
    const on = engine();
    const L = on.thread;
    for (const value of [
      true,
      false,
      0,
      -1,
      1.5,
      "",
      "äö",
      "\udcff",
      2 ** 53 - 1,
      2n ** 62n,
      [1, 2],
      { a: "b", c: { d: [true] } },
    ]) {
      on.push(L, value);
      expect(on.value(L, -1)).toEqual(value);
      on.clear();
    }
  });

  it("keeps states apart", () => {
    const a = engine();
    const b = engine();
    run("shared = 1", a);
    expect(run("return shared", b)).toBeUndefined();
    expect(run("return shared", a)).toBe(1);
  });

  it("frees what events used: any number of them fit in its memory", () => {
    const policy = lua(
      'hermes.on("openat", function(e) local t = { e.path, e.args, e.process.exe } return nil end)',
    );
    const made = event("openat", { path: "/usr/lib/x86_64-linux-gnu/libc.so.6" });
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 200_000; i++) policy.decide(made);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
  });
});

describe("a script that is stuck where it cannot be cut off", () => {
  // Each key of an ephemeron table is reached through the one before it, in random order: collecting takes n² steps.
  const policy = lua(`local n = 0
hermes.on("getppid", function() n = n + 1 return hermes.deny(tostring(n)) end)
hermes.on("close", function()
  local keys, weak = {}, setmetatable({}, { __mode = "k" })
  for i = 1, 20000 do keys[i] = {} end
  for i = #keys, 2, -1 do local j = math.random(i) keys[i], keys[j] = keys[j], keys[i] end
  for i = 1, #keys - 1 do weak[keys[i]] = keys[i + 1] end
  local first = keys[1]
  keys = nil
  for i = 1, 1e6 do local x = {} end
end)`);

  it("is stopped in bounded time, starts anew, and goes on deciding", () => {
    policy.decide(event("getppid"));
    const start = cpuMs();
    expect(() => policy.decide(event("close"))).toThrow("starts anew");
    expect(cpuMs() - start).toBeLessThan(30_000);
    expect(policy.decide(event("getppid"))?.reason).toBe("1");
    expect(policy.decide(event("getppid"))?.reason).toBe("2");
  });
});
