import { type LuaEngine, REGISTRY } from "./engine.js";
import type { Pointer } from "./machine.js";
import { GLOBALS } from "./view.js";

const encoder = new TextEncoder();

/**
 * Removed: they reach files, other code, or the interpreter itself. Libraries that are not opened (io, os,
 * debug, package) are not listed.
 */
const REMOVED = ["dofile", "load", "loadfile", "warn", "collectgarbage"];

/**
 * Finalizers run inside the garbage collector, where nothing can stop them. So no object may have one: Lua
 * looks for __gc only when a metatable is set. The metatable that all strings share is closed.
 */
const PRELUDE = `
local setmetatable_, getmetatable_, rawget_, type_, error_ = setmetatable, getmetatable, rawget, type, error
function setmetatable(object, metatable)
  if type_(metatable) == "table" and rawget_(metatable, "__gc") ~= nil then
    error_("a policy cannot have finalizers (__gc)", 2)
  end
  return setmetatable_(object, metatable)
end
getmetatable_("").__metatable = false
string.dump = nil
`;

/** Opens the permitted part of the standard library. */
export function openLibraries(engine: LuaEngine): void {
  const { x, thread: L } = engine;
  const open = (call: (L: Pointer) => number, name?: string) => {
    call(L);
    if (name !== undefined) setGlobalFromTop(engine, name);
    engine.clear();
  };
  open((state) => x.luaopen_base(state));
  open((state) => x.luaopen_coroutine(state), "coroutine");
  open((state) => x.luaopen_math(state), "math");
  open((state) => x.luaopen_string(state), "string");
  open((state) => x.luaopen_table(state), "table");
  open((state) => x.luaopen_utf8(state), "utf8");
  pushGlobal(engine, "collectgarbage");
  engine.keepCollector();
  engine.load(encoder.encode(PRELUDE), "prelude");
  engine.call(0, 0);
  engine.clear();
  for (const name of REMOVED) {
    x.lua_pushnil(L);
    setGlobalFromTop(engine, name);
  }
  engine.clear();
}

/** Sets a global to the value on top of the stack, and pops it. */
export function setGlobalFromTop(engine: LuaEngine, name: string): void {
  const { x, thread: L } = engine;
  x.lua_rawgeti(L, REGISTRY, GLOBALS);
  engine.pushText(L, name);
  x.lua_rotate(L, -3, -1);
  x.lua_rawset(L, -3);
  x.lua_settop(L, -2);
}

/** Leaves a global on top of the stack; returns its type. */
export function pushGlobal(engine: LuaEngine, name: string): number {
  const { x, thread: L } = engine;
  x.lua_rawgeti(L, REGISTRY, GLOBALS);
  engine.pushText(L, name);
  const type = x.lua_rawget(L, -2);
  x.lua_rotate(L, -2, 1);
  x.lua_settop(L, -2);
  return type;
}
