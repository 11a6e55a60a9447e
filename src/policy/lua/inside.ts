import type { Inside, ScanOptions } from "../../nouns/inside.js";
import { type LuaEngine, REGISTRY } from "./engine.js";
import type { Pointer } from "./machine.js";
import { TYPE } from "./values.js";

/** Units of fuel: for reading memory, and for lookups that take long. */
const MEMORY_COST = 1_000;
const SCAN_COST = 50_000;
const MAPS_COST = 20_000;
const STACK_COST = 10_000;

/** Functions that are fields of events: e.memory, e.stack, e.registers, e.maps. Each pushes one of them. */
export interface InsideFunctions {
  readonly memory: (L: Pointer) => void;
  readonly maps: (L: Pointer) => void;
  readonly stack: (L: Pointer) => void;
  readonly registers: (L: Pointer) => void;
}

/** Words by which a script shows that it needs the trace door. */
export function looksInside(source: Uint8Array): boolean {
  return /\b(stack|registers)\b/.test(Buffer.from(source).toString("latin1"));
}

/** `current` is the event being decided; it throws when there is none. */
export function insideFunctions(engine: LuaEngine, current: () => Inside): InsideFunctions {
  const { x } = engine;
  const keep = () => {
    const ref = BigInt(engine.ref());
    return (L: Pointer) => void x.lua_rawgeti(L, REGISTRY, ref);
  };
  const plain = (cost: number, value: (L: Pointer) => unknown) => {
    engine.pushFunction(engine.thread, (L) => {
      engine.charge(cost);
      engine.push(L, value(L));
      return 1;
    });
    return keep();
  };
  pushMemory(engine, current);
  const memory = keep();
  engine.pushFunction(engine.thread, (L) => {
    engine.charge(STACK_COST);
    pushStack(engine, L, current(), optionalNumber(engine, L, 1));
    return 1;
  });
  return {
    memory,
    stack: keep(),
    maps: plain(MAPS_COST, () => current().maps()),
    registers: plain(MEMORY_COST, () => ({ ...current().registers() })),
  };
}

/** A list of frames; `stack.reason` says why it ends: "start" when it is complete. */
function pushStack(engine: LuaEngine, L: Pointer, event: Inside, limit: number | undefined): void {
  const stack = event.stack(limit);
  engine.push(
    L,
    stack.map((frame) => ({
      text: String(frame),
      address: frame.address,
      module: frame.module,
      path: frame.path,
      main: frame.isMain,
      offset: frame.offset,
      symbol: frame.symbol,
      symbol_offset: frame.symbolOffset,
      found: frame.found,
    })),
  );
  engine.setField(L, "reason", stack.end);
}

/** A callable table of functions: e.memory(address, length) is e.memory.read(address, length). */
function pushMemory(engine: LuaEngine, current: () => Inside): void {
  const { x, thread: L } = engine;
  const method = (name: string, cost: number, call: (state: Pointer, first: number) => unknown) => {
    engine.pushText(L, name);
    engine.pushFunction(L, (state) => {
      engine.charge(cost);
      engine.push(state, call(state, firstArgument(engine, state)));
      return 1;
    });
    x.lua_rawset(L, -3);
  };
  const read = (state: Pointer, first: number) => {
    const length = Number(engine.number(state, first + 1) ?? Number.NaN);
    if (!(length >= 0)) throw new TypeError("e.memory takes an address and a length");
    return current().memory(address(engine, state, first), length);
  };
  x.lua_createtable(L, 0, 4);
  method("read", MEMORY_COST, read);
  method("text", MEMORY_COST, (state, first) => current().memory.text(address(engine, state, first)));
  method("write", MEMORY_COST, (state, first) => {
    const bytes = engine.bytes(state, first + 1);
    if (bytes === undefined) throw new TypeError("e.memory.write takes an address and a text");
    current().memory.write(address(engine, state, first), bytes);
    return true;
  });
  method("scan", SCAN_COST, (state, first) => {
    const pattern = engine.bytes(state, first);
    if (pattern === undefined) throw new TypeError("e.memory.scan takes a text, and options");
    const options = engine.type(state, first + 1) === TYPE.table ? engine.value(state, first + 1) : {};
    return current().memory.scan(pattern, scanOptions(options as Record<string, unknown>));
  });
  x.lua_createtable(L, 0, 1);
  method("__call", MEMORY_COST, read);
  engine.setField(L, "__metatable", false);
  x.lua_setmetatable(L, -2);
}

/** Skips the event or the table itself as first argument: e:memory(…), e.memory:read(…). */
function firstArgument(engine: LuaEngine, L: Pointer): number {
  let first = 1;
  while (first < 3 && engine.type(L, first) === TYPE.table) first++;
  return first;
}

function address(engine: LuaEngine, L: Pointer, index: number): bigint {
  const value = engine.number(L, index);
  if (typeof value !== "bigint") throw new TypeError("an address is a whole number");
  return BigInt.asUintN(64, value);
}

function optionalNumber(engine: LuaEngine, L: Pointer, from: number): number | undefined {
  const value = engine.number(L, engine.type(L, from) === TYPE.table ? from + 1 : from);
  return value === undefined ? undefined : Number(value);
}

function scanOptions(options: Record<string, unknown>): ScanOptions {
  const known = ["region", "from", "to", "limit"];
  for (const key of Object.keys(options))
    if (!known.includes(key))
      throw new TypeError(`e.memory.scan takes the options ${known.join(", ")}, not "${key}"`);
  const { region, from, to, limit } = options;
  return {
    ...(region !== undefined && { region: String(region) }),
    ...(from !== undefined && { from: BigInt(from as bigint) }),
    ...(to !== undefined && { to: BigInt(to as bigint) }),
    ...(limit !== undefined && { limit: Number(limit) }),
  };
}
