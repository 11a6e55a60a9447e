import { describe, expect, it } from "vitest";
import { LuaEngine } from "../../../src/policy/lua/engine.js";
import { LuaError } from "../../../src/policy/lua/error.js";
import { openLibraries } from "../../../src/policy/lua/sandbox.js";

/** Work of every kind: tables that grow and shrink, closures over live stacks, coroutines, sorts, patterns, metamethods. */
const WORK = `
store = store or { list = {}, map = {}, closures = {}, threads = {}, weak = setmetatable({}, { __mode = "k" }) }
local s = store
function work(seed)
  local x = seed
  local function random(n) x = (x * 1103515245 + 12345) % 2147483648 return x % n + 1 end
  for round = 1, 40 do
    local local_value = { round, tostring(round) }
    s.closures[random(50)] = function() local_value[1] = local_value[1] + 1 return local_value[1], local_value[2] end
    s.map["k" .. random(300)] = { round, text = ("x"):rep(random(200)) }
    s.map["k" .. random(300)] = nil
    s.list[#s.list + 1] = random(1000)
    if #s.list > 200 then table.sort(s.list, function(a, b) return a < b end) for i = 1, 150 do table.remove(s.list) end end
    s.threads[random(20)] = coroutine.create(function(a) local kept = { a } while true do kept[#kept + 1] = coroutine.yield(#kept) end end)
    for i = 1, 20 do if s.threads[i] then coroutine.resume(s.threads[i], round) end end
    s.weak[local_value] = s.list
    local text = ("the quick brown fox"):gsub("%w+", function(w) return w:upper() .. #s.list end)
    s.map[text] = pcall(function() local c <close> = setmetatable({}, { __close = function() s.closed = (s.closed or 0) + 1 end }) error({ text }) end)
    local proxy = setmetatable({}, { __index = function(_, k) return k * 2 end, __lt = function() return true end })
    s.sum = (s.sum or 0) + proxy[round] % 7
    s.text = table.concat({ text, s.sum, #s.list }, ",")
  end
end
function check()
  local n = 0
  for i, f in pairs(s.closures) do local a, b = f() assert(math.type(a) == "integer" and type(b) == "string") n = n + 1 end
  for k, v in pairs(s.map) do assert(type(k) == "string" and (type(v) == "table" or type(v) == "boolean")) n = n + #k end
  for i = 1, #s.list do assert(math.type(s.list[i]) == "integer") end
  for _, t in pairs(s.threads) do assert(coroutine.status(t)) end
  for k in pairs(s.weak) do assert(type(k) == "table") end
  return n
end`;

describe("a cut at any point", () => {
  it("leaves every table, closure, coroutine and string whole: 3000 cuts while the collector works", () => {
    const engine = new LuaEngine("work", { fuel: 50_000_000, memory: 32 * 1024 * 1024 });
    openLibraries(engine);
    engine.load(Buffer.from(WORK));
    engine.call(0, 0);
    const call = (name: string, argument: number, fuel?: number) => {
      const { x, thread: L } = engine;
      x.lua_rawgeti(L, -1_001_000, 2n);
      engine.getField(L, -1, name);
      engine.pushInteger(L, argument);
      engine.call(1, 1, fuel);
      engine.clear();
    };
    let state = 12345;
    let cuts = 0;
    for (let i = 0; i < 3000; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      try {
        call("work", state % 100_000, 50 + (state % 60_000));
      } catch (error) {
        expect(error).toBeInstanceOf(LuaError);
        expect((error as LuaError).message).toBe("it ran too long and was cut off");
        cuts++;
      }
      expect(engine.broken).toBeUndefined();
      if (i % 20 === 0) call("check", 0);
    }
    call("work", 1);
    call("check", 0);
    expect(cuts).toBeGreaterThan(2000);
  });
});
