import { afterEach, describe, expect, it } from "vitest";
import { LuaError } from "../../../src/policy/lua/error.js";
import type { LuaPolicy } from "../../../src/policy/lua/load.js";
import { cpuMs } from "../../support/cpu.js";
import { event, lua } from "./events.js";

/** Of processor time. Most take a tenth of it. */
const MAX_MS = 2000;
const MAX_BYTES = 64 * 1024 * 1024;

/** What a script might do to never come back, or to eat everything. The body of a handler each. */
const RUNAWAYS: Readonly<Record<string, string>> = {
  "an endless loop": "while true do end",
  "an endless goto": "::again:: goto again",
  "an endless repeat with work": "local n = 0 repeat n = n + 1 until false",
  "an endless numeric for": "for i = 1, math.huge do end",
  "a loop inside pcall": "pcall(function() while true do end end)",
  "a loop of pcalls that catch the cut": "while true do pcall(function() while true do end end) end",
  "pcalls within pcalls, each of which tries again":
    "local function again() while true do pcall(again) end end again()",
  "a loop inside xpcall, with a handler that loops":
    "xpcall(function() while true do end end, function() while true do end end)",
  "an error handler that loops": "xpcall(error, function() while true do end end)",
  "a loop inside a coroutine": "coroutine.wrap(function() while true do end end)()",
  "a loop of pcalls inside a coroutine":
    "local c = coroutine.create(function() while true do pcall(function() while true do end end) end end) while true do coroutine.resume(c) end",
  "coroutines made for ever": "while true do coroutine.wrap(function() coroutine.yield() end)() end",
  "two coroutines that resume each other's work":
    "local c = coroutine.wrap(function() while true do coroutine.yield() end end) while true do c() end",
  "an __index that loops":
    "local t = setmetatable({}, { __index = function() while true do end end }) return t.x",
  "an __index that asks itself":
    "local t t = setmetatable({}, { __index = function(_, k) return t[k .. 'x'] end }) return t.x",
  "an __eq that loops":
    "local m = { __eq = function() while true do end end } return setmetatable({}, m) == setmetatable({}, m)",
  "a __close that loops":
    "do local x <close> = setmetatable({}, { __close = function() while true do end end }) end",
  "a __close that loops while an error passes":
    "pcall(function() local x <close> = setmetatable({}, { __close = function() while true do end end }) error('x') end)",
  "a __tostring of its error that loops":
    "error(setmetatable({}, { __tostring = function() while true do end end }))",
  "a pattern that backtracks for ever": "return ('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40))",
  "a pattern with many lazy repetitions": "return (('x'):rep(5000) .. 'b'):match('.-.-.-.-.-a')",
  "a gsub that backtracks for ever": "return (('x'):rep(5000)):gsub('.-.-.-.-.-a', '')",
  "a gmatch that backtracks for ever": "for _ in (('x'):rep(5000)):gmatch('.*.*.*.*.*a') do end",
  "balanced matches over and over": "return (('('):rep(100000)):find('%b()')",
  "an empty string repeated for ever": "return (''):rep(math.maxinteger)",
  "a concat of 2^63 elements that C code makes up":
    "return table.concat(setmetatable({}, { __index = table.concat }), '', 1, math.maxinteger)",
  "a move of 2^63 elements": "return table.move({}, 1, math.maxinteger - 1, 2)",
  "an insert into a table that claims to be huge":
    "table.insert(setmetatable({}, { __len = function() return math.maxinteger - 1 end }), 1, 0)",
  "a remove from a table that claims to be huge":
    "table.remove(setmetatable({}, { __len = function() return math.maxinteger - 1 end }), 1)",
  "a sort whose order is C code that never agrees":
    "local t = {} for i = 1, 200000 do t[i] = i end while true do pcall(table.sort, t, rawequal) end",
  "a sort whose comparator loops": "table.sort({ 3, 2, 1 }, function() while true do end end)",
  "long strings compared over and over":
    "local a = ('x'):rep(1000000) local b, c = a .. 'y', a .. 'z' local n = 0 while true do if b < c then n = n + 1 end end",
  "long strings joined over and over": "local a = ('x'):rep(1000000) while true do local b = a .. a end",
  "long strings written and matched over and over":
    "local a = ('x'):rep(1000000) while true do a:upper() a:reverse() a:find('y', 1, true) end",
  "UTF-8 counted over and over": "local a = ('x'):rep(1000000) while true do utf8.len(a) end",
  "a table emptied from the front":
    "local t = {} for i = 1, 100000 do t['k' .. i] = i end while true do local k = next(t) if k then t[k] = nil end end",
  "a loop when no memory is left":
    "local t = {} pcall(function() while true do t[#t + 1] = { #t } end end) while true do end",
  "a loop when a global holds all memory":
    "hog = {} pcall(function() while true do hog[#hog + 1] = { #hog } end end) hog = nil while true do end",
  "odd bytes that we would have to decode, as reasons":
    "local s = ('\\xc3\\xff'):rep(5000000) while true do pcall(hermes.allow, s) end",
  "odd bytes that we would have to decode, as fields":
    "local s = ('\\xc3\\xff'):rep(8000) while true do local x = e.args[s] end",
  "odd bytes that we would have to decode, in the log":
    "local s = ('\\xc3\\xff'):rep(5000000) while true do print(s) end",
  "long strings handed over as reasons": "local s = ('x'):rep(20000000) while true do hermes.allow(s) end",
  "long strings handed over as data":
    "local s = ('x'):rep(20000000) while true do pcall(hermes.modify_data, s) end",
  "long lists handed over":
    "local t = {} for i = 1, 100000 do t[i] = i end while true do pcall(hermes.redirect, t) end",
  "printing for ever": "while true do print('x') end",
  "reading an event for ever": "while true do local x = e.args.fd end",
  "making views for ever": "local t = {} while true do t[#t + 1] = e.process end",
  "weak keys that keep each other alive":
    "local t = setmetatable({}, { __mode = 'k' }) local k = {} while true do local n = {} t[n] = k k = n end",
};

const GLUTTONS: Readonly<Record<string, string>> = {
  "a string repeated beyond memory": "return ('x'):rep(1 << 40)",
  "a string repeated to all of memory": "return ('x'):rep(60000000) .. ('y'):rep(60000000)",
  "an error as long as memory": "local s = ('\\xc3\\xff'):rep(5000000) error('overflow' .. s)",
  "a string that doubles": "local s = 'x' while true do s = s .. s end",
  "a table that grows": "local t = {} while true do t[#t + 1] = {} end",
  "a format that grows": "local s = 'x' while true do s = ('%s%s'):format(s, s) end",
  "a concat that grows": "local s = 'x' while true do s = table.concat({ s, s, s }, s) end",
  "a gsub that grows": "local s = 'xxxx' while true do s = s:gsub('.', '%0%0%0%0') end",
  "recursion without end": "local function f() return 1 + f() end return f()",
  "recursion through pcall without end":
    "local function f() local ok, why = pcall(f) error(why) end return f()",
  "recursion through C without end":
    "local function f() return (('a'):gsub('a', function() return f() end)) end return f()",
  "recursion through sort without end":
    "local function f() table.sort({ 1, 2, 3 }, function() f() return true end) end return f()",
  "recursion through coroutines without end":
    "local function f() local r = { coroutine.resume(coroutine.create(f)) } error(r[2], 0) end return f()",
  "recursion through metamethods without end":
    "local m = {} m.__add = function(a, b) return a + b end local t = setmetatable({}, m) return t + t",
  "recursion through tostring without end":
    "local t = setmetatable({}, {}) getmetatable(t).__tostring = function() return tostring(t) end return tostring(t)",
  "unpacking without end": "return table.unpack({}, 1, 100000000)",
  "closures without end": "local t = {} while true do t[#t + 1] = function() return t end end",
  "a stack of varargs": "local function f(...) return f(1, ...) end return f()",
};

const handler = (body: string) => `
local count = 0
hermes.on("close", function(e) ${body} end)
hermes.on("getppid", function(e) count = count + 1 return hermes.deny("still here: " .. count, "EPERM") end)`;

function thrownBy(policy: LuaPolicy): Error {
  try {
    policy.decide(event("close", { registers: [3n], args: { fd: 3 } }));
  } catch (error) {
    return error as Error;
  }
  throw new Error("it was not stopped");
}

describe.each(Object.entries(RUNAWAYS))("%s", (_, body) => {
  it("is cut off in bounded time, says so with its line, and leaves the policy usable", () => {
    const policy = lua(handler(body));
    policy.decide(event("getppid"));
    for (let round = 1; round <= 2; round++) {
      const start = cpuMs();
      const error = thrownBy(policy);
      expect(cpuMs() - start).toBeLessThan(MAX_MS);
      expect(error).toBeInstanceOf(LuaError);
      expect(error.message).toMatch(/ran too long|not enough memory|C stack overflow/);
      if (error.message.includes("ran too long")) expect(policy.locate(error)).toBe("/policies/test.lua:3");
      expect(policy.decide(event("getppid"))?.reason).toBe(`still here: ${round + 1}`);
    }
  });
});

describe.each(Object.entries(GLUTTONS))("%s", (_, body) => {
  it("fails within its memory and its stack, and leaves the policy usable", () => {
    const policy = lua(handler(body));
    policy.decide(event("getppid"));
    for (let round = 1; round <= 2; round++) {
      const before = process.memoryUsage().arrayBuffers;
      const start = cpuMs();
      const error = thrownBy(policy);
      expect(cpuMs() - start).toBeLessThan(MAX_MS);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MAX_BYTES);
      expect(error).toBeInstanceOf(LuaError);
      expect(error.message).toMatch(
        /not enough memory|overflow|ran too long|too (large|long|many)|length overflow/,
      );
      expect(policy.decide(event("getppid"))?.reason).toBe(`still here: ${round + 1}`);
    }
  });
});

describe("a hostile policy", () => {
  let policy: LuaPolicy & { lines: string[] };
  afterEach(() => expect(policy.decide(event("getppid"))?.action).toBe("deny"));

  const ends = '\nhermes.on("getppid", function() return hermes.deny() end)';

  it.each([
    "io",
    "os",
    "debug",
    "package",
    "require",
    "load",
    "loadstring",
    "loadfile",
    "dofile",
    "collectgarbage",
    "warn",
    "string.dump",
  ])("finds no %s", (name) => {
    policy = lua(`print(type(${name}))${ends}`);
    expect(policy.lines).toEqual(["test: nil"]);
  });

  it("cannot have finalizers, which nothing could stop", () => {
    policy = lua(`print(pcall(setmetatable, {}, { __gc = function() while true do end end }))
local late = setmetatable({}, {}) ${ends}
hermes.on("close", function()
  local m = {} local t = setmetatable({}, m) m.__gc = function() while true do end end t = nil
  for i = 1, 100000 do local x = {} end
end)`);
    expect(policy.lines[0]).toMatch(/false\t.*finalizers/);
    expect(policy.decide(event("close"))).toBeUndefined();
  });

  it("cannot change the metatable that all strings share", () => {
    policy = lua(`print(getmetatable("")) print(pcall(setmetatable, "", {}))${ends}`);
    expect(policy.lines[0]).toBe("test: false");
    expect(policy.lines[1]).toMatch(/^test: false\t/);
  });

  it("hurts only itself when it breaks its own globals", () => {
    policy = lua(
      `${ends}
hermes.on("close", function()
  hermes.deny, hermes.state, hermes.on = error, nil, nil
  local G, set = _G, setmetatable
  string.find, string.format, table.concat, tostring, next, pairs, type, error, print, hermes, _G = nil
  set(G, { __index = function() while true do end end, __newindex = function() while true do end end })
end)
hermes.on("open", function() return undefined_name end)
local deny = hermes.deny
hermes.on("getppid", function() return deny() end)`.replace(ends, ""),
    );
    expect(policy.decide(event("close"))).toBeUndefined();
    expect(() => policy.decide(event("open"))).toThrow("ran too long");
  });

  it("cannot look at the metatable of an event, or change the event", () => {
    policy = lua(`${ends}
hermes.on("close", function(e)
  print(getmetatable(e), pcall(setmetatable, e, {}))
  print(pcall(function() e.path = "x" end))
  print(pcall(rawset, e, "path", "x"))
end)`);
    policy.decide(event("close"));
    expect(policy.lines[0]).toMatch(/^test: false\tfalse\t.*protected/);
    expect(policy.lines[1]).toMatch(/^test: false\t.*cannot be changed/);
  });

  it("cannot use an event after its time", () => {
    policy = lua(`${ends}
local kept, args
hermes.on("close", function(e) kept = e args = e.args end)
hermes.on("open", function() return kept.path end)
hermes.on("read", function() return args.fd end)`);
    policy.decide(event("close"));
    expect(() => policy.decide(event("open"))).toThrow("has been answered");
    expect(() => policy.decide(event("read"))).toThrow("has been answered");
  });

  it("cannot yield out of a handler", () => {
    policy = lua(`${ends} hermes.on("close", function() coroutine.yield() end)`);
    expect(() => policy.decide(event("close"))).toThrow("yield");
  });

  it("cannot resume what a cut left running", () => {
    policy = lua(`${ends}
local c
hermes.on("close", function() c = coroutine.create(function() while true do end end) coroutine.resume(c) end)
hermes.on("open", function() print(coroutine.status(c), coroutine.resume(c)) print(pcall(coroutine.close, c)) end)`);
    expect(() => policy.decide(event("close"))).toThrow("ran too long");
    policy.decide(event("open"));
    expect(policy.lines[0]).toMatch(/false/);
  });

  it("is stopped while it loads, too", () => {
    policy = lua(ends);
    expect(() => lua("while true do end", { budgets: { fuel: 100_000 } })).toThrow(
      /test.lua:1: it ran too long/,
    );
    expect(() => lua("local t = {} while true do t[#t + 1] = {} end")).toThrow(/memory|too long/);
  });

  it("cannot break the parser", () => {
    policy = lua(ends);
    for (const text of [
      "(".repeat(100_000),
      "{".repeat(100_000),
      "a.".repeat(500_000),
      "-- \0\u{1b}Lua",
      `x = "${"\\".repeat(99_999)}`,
      "\u{1b}LuaS\0",
      "local x <close> = 1",
      "return ".repeat(200_000),
      `local ${Array.from({ length: 300 }, (_, i) => `v${i}`).join(",")}`,
    ])
      expect(() => lua(text)).toThrow();
  });

  it("keeps nothing of an event that was cut off", () => {
    policy = lua(`${ends} hermes.on("close", function() hermes.redirect("/x") while true do end end)
hermes.on("open", function() end)`);
    expect(() => policy.decide(event("close"))).toThrow("ran too long");
    expect(policy.decide(event("open"))).toBeUndefined();
  });

  it("that keeps all memory for good is denied until it starts anew", () => {
    policy = lua(`hog = {}
hermes.on("close", function() while true do hog[#hog + 1] = { #hog } end end)
hermes.on("getppid", function(e) local t = { e.path } return hermes.deny() end)`);
    expect(() => policy.decide(event("close"))).toThrow(/memory|too long|anew/);
    for (let i = 0; i < 20; i++)
      try {
        policy.decide(event("close"));
      } catch {}
    let last: unknown;
    for (let i = 0; i < 5; i++)
      try {
        last = policy.decide(event("getppid"))?.action;
      } catch (error) {
        last = error;
      }
    expect(String(last)).toMatch(/deny|memory/);
    policy = lua(ends);
  });

  it("is not cut off later for work that it just finished", () => {
    policy = lua(
      `${ends} hermes.on("open", function(e) local s = ("x"):rep(e.args.mode) return s:find("y") end)
hermes.on("read", function() local n = 0 for i = 1, 1000 do n = n + i end end)`,
      { budgets: { fuel: 50_000 } },
    );
    let cut = 0;
    for (let mode = 49_000; mode < 50_200; mode += 3) {
      try {
        policy.decide(event("open", { args: { mode } }));
      } catch {
        cut++;
      }
      expect(policy.decide(event("read"))).toBeUndefined();
    }
    expect(cut).toBeGreaterThan(0);
  });

  it("may fail a thousand times and the policy still decides", () => {
    policy = lua(`${ends} local t = {} hermes.on("close", function() t.x.y = 1 end)`);
    for (let i = 0; i < 1000; i++) expect(() => policy.decide(event("close"))).toThrow("index a nil value");
  });

  it("may be cut off a hundred times and memory does not grow", () => {
    policy = lua(
      `${ends} hermes.on("close", function() local t = {} for i = 1, 10000 do t[i] = { i } end while true do end end)`,
      {
        budgets: { fuel: 500_000 },
      },
    );
    const cut = () => expect(() => policy.decide(event("close"))).toThrow("ran too long");
    for (let i = 0; i < 20; i++) cut();
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 100; i++) cut();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
  });
});
