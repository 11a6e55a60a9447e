import { decodeText, encodeText } from "../../text.js";
import { LuaError } from "./error.js";
import { type LuaExports, Machine, OutOfFuel, type Pointer } from "./machine.js";
import { HARD_LIMIT } from "./meter.js";

export const TYPE = {
  nil: 0,
  boolean: 1,
  lightuserdata: 2,
  number: 3,
  string: 4,
  table: 5,
  function: 6,
} as const;
const TYPE_NAMES = [
  "nil",
  "boolean",
  "a verdict",
  "number",
  "string",
  "table",
  "function",
  "userdata",
  "thread",
];

export const REGISTRY = -1_001_000;
const STATUS_SYNTAX = 3;
const STATUS_MEMORY = 4;
const MASK_COUNT = 8;
const SCRATCH = 64 * 1024;
/** What a machine whose tank is empty may still use, to reach the place where its line is known. */
const GRACE = 20_000;
/** Enough for the interpreter's own work between two calls: tracebacks, collecting garbage. */
const PLENTY = 2 ** 30;

export interface Budgets {
  /** Units of work for one event: about 2 to 8 ns each. */
  readonly fuel: number;
  /** Bytes of memory for everything that the policy holds. */
  readonly memory: number;
}

/** Nested plain data, as Lua has it: integers are bigints, floats are numbers, tables are maps. */
export type LuaData = boolean | bigint | number | string | Map<LuaData, LuaData>;

const SMALL = Array.from({ length: 1024 }, (_, i) => BigInt(i));

/** A Lua state: values in and out, protected calls, and what remains standing after a call that was cut off. */
export class Engine {
  readonly machine: Machine;
  readonly x: LuaExports;
  readonly budgets: Budgets;
  /** The thread that handlers run in. After a cut it is left behind, with whatever it was doing, for a new one. */
  thread: Pointer;
  /** Something other than a budget stopped the machine in mid-air: it cannot be used again. */
  broken: Error | undefined;
  readonly #main: Pointer;
  readonly #chunk: string;
  readonly #scratch: Pointer;
  readonly #length: Pointer;
  readonly #hook: number;
  readonly #onError: number;
  #threadRef = 0;
  #draining = false;
  #collect: number | undefined;

  /** `chunk` is the name by which Lua's messages speak of the script. */
  constructor(chunk: string, budgets: Budgets) {
    this.#chunk = chunk;
    this.budgets = budgets;
    this.machine = new Machine(budgets.memory);
    this.x = this.machine.x;
    this.#main = this.x.luaL_newstate();
    this.#scratch = this.x.malloc(SCRATCH);
    this.#length = this.x.malloc(8);
    this.#hook = this.machine.addHook((L) => {
      throw new CutOff(L);
    });
    this.#onError = this.machine.addFunction((L) => this.#explain(L));
    this.machine.onEmpty = () => this.#empty();
    this.thread = this.#newThread();
  }

  // ---------------------------------------------------------------- running

  /** Calls the function and its arguments on top of the thread's stack. The results stay there until `clear`. */
  call(args: number, results: number, fuel = this.budgets.fuel): void {
    const { x, machine } = this;
    if (this.broken) throw this.broken;
    const stack = x.stackSave();
    let status: number;
    machine.fuel = fuel;
    try {
      status = x.lua_pcallk(this.thread, args, results, 1, 0, 0);
    } catch (thrown) {
      x.stackRestore(stack);
      throw this.#cutOff(thrown);
    }
    machine.fuel = PLENTY;
    if (status !== 0) throw this.#failed(status);
  }

  /** Empties the thread's stack but for what is always there. */
  clear(): void {
    this.x.lua_settop(this.thread, 1);
  }

  /** Leaves the function that the source compiles to on the thread's stack. */
  load(source: Uint8Array, chunk = this.#chunk): void {
    const { x } = this;
    if (!x.lua_checkstack(this.thread, 8)) throw new LuaError("not enough memory", this.#chunk);
    const at = x.malloc(source.length + 1);
    const name = this.#cString(`@${chunk}`);
    const mode = this.#cString("t");
    if (!at || !name || !mode) throw new LuaError("not enough memory", this.#chunk);
    this.machine.bytes.set(source, at);
    const status = x.luaL_loadbufferx(this.thread, at, source.length, name, mode);
    for (const block of [at, name, mode]) x.free(block);
    if (status !== 0) throw this.#failed(status);
  }

  /** After any failure: whatever was left half done on the thread's stack is gone. */
  recover(): void {
    if (this.broken) return;
    try {
      this.#replaceThread();
    } catch (cause) {
      this.broken = new LuaError("the interpreter is out of memory", this.#chunk, { cause });
    }
  }

  /** A function of ours for Lua to call. What it throws becomes a Lua error at the caller's line. */
  pushFunction(L: Pointer, call: (L: Pointer) => number): void {
    const slot = this.machine.addFunction((state) => {
      try {
        return call(state);
      } catch (thrown) {
        if (!(thrown instanceof Error) || thrown instanceof OutOfFuel || isOverflow(thrown)) throw thrown;
        return this.raise(state, thrown.message);
      }
    });
    this.x.lua_pushcclosure(L, slot, 0);
  }

  raise(L: Pointer, message: string): number {
    const { x } = this;
    x.luaL_where(L, 1);
    this.pushText(L, message);
    x.lua_concat(L, 2);
    return x.lua_error(L);
  }

  /** Work that we do for the script is taken from its tank too. */
  charge(units: number): void {
    this.machine.fuel -= units;
  }

  /** The function on top of the stack collects garbage when called: kept for ourselves. */
  keepCollector(): void {
    this.#collect = this.x.luaL_ref(this.thread, REGISTRY);
  }

  ref(): number {
    return this.x.luaL_ref(this.thread, REGISTRY);
  }

  unref(ref: number): void {
    this.x.luaL_unref(this.thread, REGISTRY, ref);
  }

  // ---------------------------------------------------------------- what goes wrong

  /** The tank is empty. Once it is filled a little, so that the hook can stop at a known line; then it is over. */
  #empty(): void {
    if (this.machine.fuel < -HARD_LIMIT) throw new Error("it was stuck");
    if (this.#draining) throw new CutOff(this.thread);
    this.#draining = true;
    this.machine.fuel = GRACE;
    this.x.lua_sethook(this.thread, this.#hook, MASK_COUNT, 1);
  }

  #cutOff(thrown: unknown): Error {
    this.machine.fuel = PLENTY;
    this.#draining = false;
    if (!(thrown instanceof CutOff)) {
      const cause = thrown as Error;
      this.broken = new LuaError(`the interpreter failed: ${cause.message}`, this.#chunk, { cause });
      return this.broken;
    }
    return new LuaError("it ran too long and was cut off", this.#chunk, {
      traceback: this.#replaceThread(thrown.thread),
    });
  }

  #failed(status: number): Error {
    const message = this.text(this.thread, -1) ?? "an error that is not text";
    const at = message.indexOf("\nstack traceback:\n");
    const traceback = at < 0 ? undefined : message.slice(at + 18);
    const error = new LuaError(at < 0 ? message : message.slice(0, at), this.#chunk, {
      ...(traceback !== undefined && { traceback }),
      syntax: status === STATUS_SYNTAX,
    });
    // Its stack may be most of what there is.
    if (status === STATUS_MEMORY) this.#replaceThread();
    else this.clear();
    return error;
  }

  /** Leaves the thread to the collector. Returns where the given one stood. */
  #replaceThread(explain?: Pointer): string {
    const old = this.#threadRef;
    this.thread = this.#newThread();
    const traceback = explain === undefined ? "" : this.#tracebackOf(explain);
    this.unref(old);
    this.#collectGarbage();
    return traceback;
  }

  /** The message handler of every call: adds the traceback while the stack is still there. */
  #explain(L: Pointer): number {
    const { x } = this;
    if (x.lua_type(L, 1) !== TYPE.string) x.luaL_tolstring(L, 1, 0);
    else x.lua_pushvalue(L, 1);
    x.luaL_traceback(L, L, x.lua_tolstring(L, -1, 0), 1);
    return 1;
  }

  #tracebackOf(of: Pointer): string {
    this.x.luaL_traceback(this.thread, of, 0, 0);
    const text = this.text(this.thread, -1) ?? "";
    this.clear();
    return text.replace(/^stack traceback:\n/, "");
  }

  #collectGarbage(): void {
    if (this.#collect === undefined) return;
    this.x.lua_rawgeti(this.thread, REGISTRY, BigInt(this.#collect));
    this.x.lua_pcallk(this.thread, 0, 0, 0, 0, 0);
    this.clear();
  }

  #newThread(): Pointer {
    const { x } = this;
    const thread = x.lua_newthread(this.#main);
    this.#threadRef = x.luaL_ref(this.#main, REGISTRY);
    x.lua_pushcclosure(thread, this.#onError, 0);
    return thread;
  }

  #cString(text: string): Pointer {
    const bytes = encodeText(text);
    const at = this.x.malloc(bytes.length + 1);
    if (!at) return 0;
    this.machine.bytes.set(bytes, at);
    this.machine.bytes[at + bytes.length] = 0;
    return at;
  }

  // ---------------------------------------------------------------- values in

  pushInteger(L: Pointer, value: number | bigint): void {
    const small = typeof value === "number" ? SMALL[value] : undefined;
    this.x.lua_pushinteger(L, small ?? BigInt(value));
  }

  pushText(L: Pointer, text: string): void {
    const { length } = text;
    if (length <= SCRATCH) {
      const { bytes } = this.machine;
      const at = this.#scratch;
      let i = 0;
      for (; i < length; i++) {
        const code = text.charCodeAt(i);
        if (code >= 0x80) break;
        bytes[at + i] = code;
      }
      if (i === length) {
        this.x.lua_pushlstring(L, at, length);
        return;
      }
    }
    this.pushBytes(L, encodeText(text));
  }

  pushBytes(L: Pointer, bytes: Uint8Array): void {
    const { x } = this;
    const own = bytes.length > SCRATCH ? x.malloc(bytes.length) : 0;
    if (bytes.length > SCRATCH && own === 0) throw new Error("not enough memory");
    const at = own || this.#scratch;
    this.machine.bytes.set(bytes, at);
    this.charge(bytes.length >> 4);
    x.lua_pushlstring(L, at, bytes.length);
    if (own) x.free(own);
  }

  /** Any plain value: arrays become lists, objects tables. Whole numbers become integers. */
  push(L: Pointer, value: unknown): void {
    const { x } = this;
    if (value === undefined || value === null) x.lua_pushnil(L);
    else if (typeof value === "string") this.pushText(L, value);
    else if (typeof value === "bigint") x.lua_pushinteger(L, value);
    else if (typeof value === "number")
      if (Number.isSafeInteger(value)) this.pushInteger(L, value);
      else x.lua_pushnumber(L, value);
    else if (typeof value === "boolean") x.lua_pushboolean(L, value ? 1 : 0);
    else if (value instanceof Uint8Array) this.pushBytes(L, value);
    else if (Array.isArray(value)) this.pushList(L, value);
    else this.pushTable(L, value as Record<string, unknown>);
  }

  pushList(L: Pointer, list: readonly unknown[]): void {
    const { x } = this;
    this.#room(L);
    x.lua_createtable(L, list.length, 0);
    list.forEach((value, i) => {
      this.push(L, value);
      x.lua_rawseti(L, -2, BigInt(i + 1));
    });
    this.charge(list.length);
  }

  pushTable(L: Pointer, record: Readonly<Record<string, unknown>>): void {
    this.#room(L);
    this.x.lua_createtable(L, 0, 0);
    for (const [key, value] of Object.entries(record)) if (value !== undefined) this.setField(L, key, value);
  }

  /** Sets a field of the table on top of the stack. */
  setField(L: Pointer, key: string, value: unknown): void {
    this.pushText(L, key);
    this.push(L, value);
    this.x.lua_rawset(L, -3);
  }

  pushData(L: Pointer, data: LuaData): void {
    if (!(data instanceof Map)) {
      if (typeof data === "number") this.x.lua_pushnumber(L, data);
      else this.push(L, data);
      return;
    }
    this.#room(L);
    this.x.lua_createtable(L, 0, data.size);
    for (const [key, value] of data) {
      this.pushData(L, key);
      this.pushData(L, value);
      this.x.lua_rawset(L, -3);
    }
  }

  #room(L: Pointer): void {
    if (!this.x.lua_checkstack(L, 8)) throw new Error("not enough memory");
  }

  // ---------------------------------------------------------------- values out

  type(L: Pointer, index: number): number {
    return this.x.lua_type(L, index);
  }

  typeName(L: Pointer, index: number): string {
    return TYPE_NAMES[this.x.lua_type(L, index)] ?? "nothing";
  }

  /** The bytes of a string, as a copy; undefined when it is no string. */
  bytes(L: Pointer, index: number): Uint8Array | undefined {
    if (this.x.lua_type(L, index) !== TYPE.string) return undefined;
    const at = this.x.lua_tolstring(L, index, this.#length);
    return this.machine.bytes.slice(at, at + this.machine.words[this.#length >> 2]!);
  }

  text(L: Pointer, index: number): string | undefined {
    const bytes = this.bytes(L, index);
    return bytes && decodeText(bytes);
  }

  /** An integer exactly, a float as a number. */
  number(L: Pointer, index: number): number | bigint | undefined {
    const { x } = this;
    if (x.lua_type(L, index) !== TYPE.number) return undefined;
    return x.lua_isinteger(L, index) ? x.lua_tointegerx(L, index, 0) : x.lua_tonumberx(L, index, 0);
  }

  /** A number, text, boolean, list or record, as a plain value of ours; whole numbers that fit are numbers. */
  value(L: Pointer, index: number, depth = 0): unknown {
    const { x } = this;
    switch (x.lua_type(L, index)) {
      case TYPE.boolean:
        return x.lua_toboolean(L, index) !== 0;
      case TYPE.number: {
        const number = this.number(L, index)!;
        return typeof number === "bigint" &&
          BigInt(Number(number)) === number &&
          Number.isSafeInteger(Number(number))
          ? Number(number)
          : number;
      }
      case TYPE.string:
        return this.text(L, index);
      case TYPE.table:
        return this.#record(L, index, depth + 1);
      default:
        return undefined;
    }
  }

  #record(L: Pointer, index: number, depth: number): unknown {
    if (depth > 8) throw new Error("a table is nested too deeply");
    const entries: [unknown, unknown][] = [];
    this.each(L, index, () => entries.push([this.value(L, -2, depth), this.value(L, -1, depth)]));
    const isList = entries.length > 0 && entries.every(([key]) => typeof key === "number");
    if (isList) return entries.sort(([a], [b]) => (a as number) - (b as number)).map(([, value]) => value);
    return Object.fromEntries(entries.map(([key, value]) => [String(key), value]));
  }

  /** Visits a table's pairs without asking its metatable: the key is at -2, the value at -1. */
  each(L: Pointer, index: number, visit: () => void): void {
    const { x } = this;
    const table = x.lua_absindex(L, index);
    this.#room(L);
    x.lua_pushnil(L);
    while (x.lua_next(L, table)) {
      this.charge(4);
      visit();
      x.lua_settop(L, -2);
    }
  }

  /** Nested tables of strings, numbers and booleans. What is neither is named in the error. */
  data(L: Pointer, index: number, path = "hermes.state", seen = new Set<Pointer>()): LuaData {
    const { x } = this;
    switch (x.lua_type(L, index)) {
      case TYPE.boolean:
        return x.lua_toboolean(L, index) !== 0;
      case TYPE.number:
        return this.number(L, index)!;
      case TYPE.string:
        return this.text(L, index)!;
      case TYPE.table:
        return this.#dataTable(L, index, path, seen);
      default:
        throw new Error(
          `${path} is a ${this.typeName(L, index)}: only tables, strings, numbers and booleans are kept`,
        );
    }
  }

  #dataTable(L: Pointer, index: number, path: string, seen: Set<Pointer>): Map<LuaData, LuaData> {
    const pointer = this.x.lua_topointer(L, index);
    if (seen.has(pointer)) throw new Error(`${path} holds itself, or the same table twice`);
    if (seen.size > 100_000) throw new Error("hermes.state has too many tables");
    seen.add(pointer);
    const data = new Map<LuaData, LuaData>();
    this.each(L, index, () => {
      const key = this.data(L, -2, `a key of ${path}`, seen);
      data.set(key, this.data(L, -1, `${path}[${String(key)}]`, seen));
    });
    return data;
  }

  /** Reads a field of a table of ours: leaves its value on top of the stack. */
  getField(L: Pointer, table: number, key: string): number {
    const at = this.x.lua_absindex(L, table);
    this.pushText(L, key);
    return this.x.lua_rawget(L, at);
  }
}

/** Out of fuel, in this thread. */
class CutOff extends OutOfFuel {
  readonly thread: Pointer;

  constructor(thread: Pointer) {
    super("out of fuel");
    this.thread = thread;
  }
}

function isOverflow(error: Error): boolean {
  return error instanceof RangeError && error.message.includes("call stack");
}
