import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { FUEL_ADDRESS, type Metered, meter } from "./meter.js";
import { compile, instantiate, type WasmMemory, type WasmModule, type WasmTable } from "./webassembly.js";

/** A lua_State, a C string, any address in the machine's memory. */
export type Pointer = number;

/** The part of Lua's C API that we use. 64-bit integers cross as BigInt. */
export interface LuaExports {
  readonly memory: WasmMemory;
  readonly __indirect_function_table: WasmTable;
  __wasm_call_ctors(): void;
  emscripten_stack_init(): void;
  stackSave(): Pointer;
  stackRestore(at: Pointer): void;
  setThrew(threw: number, value: number): void;
  malloc(size: number): Pointer;
  free(at: Pointer): void;
  luaL_newstate(): Pointer;
  lua_newthread(L: Pointer): Pointer;
  lua_absindex(L: Pointer, index: number): number;
  lua_gettop(L: Pointer): number;
  lua_settop(L: Pointer, index: number): void;
  lua_checkstack(L: Pointer, count: number): number;
  lua_pushvalue(L: Pointer, index: number): void;
  lua_rotate(L: Pointer, index: number, count: number): void;
  lua_type(L: Pointer, index: number): number;
  lua_isinteger(L: Pointer, index: number): number;
  lua_tonumberx(L: Pointer, index: number, isNumber: Pointer): number;
  lua_tointegerx(L: Pointer, index: number, isInteger: Pointer): bigint;
  lua_toboolean(L: Pointer, index: number): number;
  lua_tolstring(L: Pointer, index: number, length: Pointer): Pointer;
  lua_topointer(L: Pointer, index: number): Pointer;
  lua_touserdata(L: Pointer, index: number): Pointer;
  lua_pushnil(L: Pointer): void;
  lua_pushnumber(L: Pointer, value: number): void;
  lua_pushinteger(L: Pointer, value: bigint): void;
  lua_pushlstring(L: Pointer, at: Pointer, length: number): Pointer;
  lua_pushcclosure(L: Pointer, slot: number, upvalues: number): void;
  lua_pushboolean(L: Pointer, value: number): void;
  lua_pushlightuserdata(L: Pointer, value: Pointer): void;
  lua_rawget(L: Pointer, index: number): number;
  lua_rawgeti(L: Pointer, index: number, key: bigint): number;
  lua_rawset(L: Pointer, index: number): void;
  lua_rawseti(L: Pointer, index: number, key: bigint): void;
  lua_rawlen(L: Pointer, index: number): number;
  lua_createtable(L: Pointer, list: number, fields: number): void;
  lua_setmetatable(L: Pointer, index: number): number;
  lua_next(L: Pointer, index: number): number;
  lua_pcallk(L: Pointer, args: number, results: number, handler: number, context: number, k: number): number;
  lua_callk(L: Pointer, args: number, results: number, context: number, k: number): void;
  lua_error(L: Pointer): number;
  lua_concat(L: Pointer, count: number): void;
  lua_sethook(L: Pointer, slot: number, mask: number, count: number): void;
  luaL_where(L: Pointer, level: number): void;
  luaL_tolstring(L: Pointer, index: number, length: Pointer): Pointer;
  luaL_traceback(L: Pointer, of: Pointer, message: Pointer, level: number): void;
  luaL_ref(L: Pointer, table: number): number;
  luaL_unref(L: Pointer, table: number, ref: number): void;
  luaL_loadbufferx(L: Pointer, at: Pointer, size: number, name: Pointer, mode: Pointer): number;
  luaopen_base(L: Pointer): number;
  luaopen_coroutine(L: Pointer): number;
  luaopen_math(L: Pointer): number;
  luaopen_string(L: Pointer): number;
  luaopen_table(L: Pointer): number;
  luaopen_utf8(L: Pointer): number;
}

const PAGE = 65536;
/**
 * Units of fuel for a protected call, and for an error or a yield that unwinds to one: these take
 * microseconds, not nanoseconds.
 */
const TRY_COST = 30;
const THROW_COST = 1500;
const EPERM = -63;

interface Built extends Metered {
  readonly module: WasmModule;
}

/** The compiled code is the same for every policy and never changes. */
let built: Built | undefined;

function build(): Built {
  if (built) return built;
  const folder = dirname(createRequire(import.meta.url).resolve("wasmoon"));
  const metered = meter(readFileSync(join(folder, "glue.wasm")));
  built = { ...metered, module: compile(metered.binary) };
  return built;
}

/** Out of fuel: every frame of the interpreter is gone, and no pcall has caught it. */
export class OutOfFuel extends Error {}

/** The machine stopped in the middle of its work and cannot continue. */
export class LuaMachineFailure extends Error {}

/** Lua's interpreter in its own memory. It has no way to reach anything outside. */
export class LuaMachine {
  readonly x: LuaExports;
  /** Called when the fuel is used up; returning lets the machine continue. */
  onEmpty: () => void = () => {
    throw new OutOfFuel();
  };
  bytes: Uint8Array;
  words: Int32Array;
  readonly #maxPages: number;

  constructor(maxMemory: number) {
    const { module, tripSlot } = build();
    this.#maxPages = Math.floor(maxMemory / PAGE);
    this.x = instantiate<LuaExports>(module, this.#imports());
    this.bytes = new Uint8Array(this.x.memory.buffer);
    this.words = new Int32Array(this.x.memory.buffer);
    const slot = this.#place([], [], () => this.onEmpty());
    if (slot !== tripSlot) throw new Error("the trip function is not where the meter expects it");
    this.fuel = 2 ** 31 - 1;
    this.x.__wasm_call_ctors();
    this.x.emscripten_stack_init();
  }

  get fuel(): number {
    return this.words[FUEL_ADDRESS >> 2]!;
  }

  set fuel(units: number) {
    this.words[FUEL_ADDRESS >> 2] = units;
  }

  /** Makes one of our lua_CFunctions callable; returns its slot. */
  addFunction(call: (L: Pointer) => number): number {
    return this.#place([I32], [I32], call);
  }

  /** Makes one of our lua_Hooks callable; returns its slot. */
  addHook(hook: (L: Pointer) => void): number {
    return this.#place([I32, I32], [], hook);
  }

  #place(parameters: number[], results: number[], call: (...values: number[]) => unknown): number {
    const table = this.x.__indirect_function_table;
    const slot = table.grow(1);
    table.set(slot, asWasm(parameters, results, call));
    return slot;
  }

  #imports() {
    const refuse = () => EPERM;
    const abort = () => {
      // Lua does so when memory runs out outside of any protected call.
      throw new LuaMachineFailure("not enough memory");
    };
    return {
      env: {
        abort,
        exit: abort,
        invoke_vii: (slot: number, a: number, b: number) => this.#invoke(slot, a, b),
        _emscripten_throw_longjmp: () => {
          throw Number.POSITIVE_INFINITY;
        },
        emscripten_resize_heap: (size: number) => this.#grow(size >>> 0),
        emscripten_date_now: () => 0,
        _emscripten_get_now_is_monotonic: () => 0,
        strftime: () => 0,
        system: () => -1,
        _mktime_js: () => 0n,
        _localtime_js: () => {},
        _gmtime_js: () => {},
        _tzset_js: () => {},
        __syscall_openat: refuse,
        __syscall_fcntl64: refuse,
        __syscall_ioctl: refuse,
        __syscall_dup3: refuse,
        __syscall_unlinkat: refuse,
        __syscall_rmdir: refuse,
        __syscall_renameat: refuse,
        __syscall_readlinkat: refuse,
      },
      wasi_snapshot_preview1: {
        fd_write: () => 63,
        fd_read: () => 63,
        fd_close: () => 63,
        fd_seek: () => 63,
        environ_sizes_get: (count: Pointer, size: Pointer) => {
          this.words ??= new Int32Array(this.x.memory.buffer);
          this.words[count >> 2] = 0;
          this.words[size >> 2] = 0;
          return 0;
        },
        environ_get: () => 0,
      },
    };
  }

  /** setjmp: longjmp throws a number. All other exceptions are ours and pass. */
  #invoke(slot: number, a: number, b: number): void {
    const { x } = this;
    const stack = x.stackSave();
    this.fuel -= TRY_COST;
    try {
      (x.__indirect_function_table.get(slot) as (a: number, b: number) => void)(a, b);
    } catch (thrown) {
      if (typeof thrown !== "number") throw thrown;
      this.fuel -= THROW_COST;
      x.stackRestore(stack);
      x.setThrew(1, 0);
    }
  }

  #grow(size: number): number {
    const { memory } = this.x;
    const pages = memory.buffer.byteLength / PAGE;
    const wanted = Math.ceil(size / PAGE);
    if (wanted > this.#maxPages) return 0;
    memory.grow(Math.min(this.#maxPages, Math.max(wanted, Math.ceil(pages * 1.25))) - pages);
    this.bytes = new Uint8Array(memory.buffer);
    this.words = new Int32Array(memory.buffer);
    return 1;
  }
}

const I32 = 0x7f;

/** The smallest module that turns a JavaScript function into one for a WebAssembly table. */
function asWasm(parameters: number[], results: number[], call: unknown): unknown {
  const type = [0x60, parameters.length, ...parameters, results.length, ...results];
  const bytes = Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...[1, type.length + 1, 1, ...type],
    ...[2, 7, 1, 1, 0x65, 1, 0x66, 0, 0], // import "e" "f"
    ...[7, 5, 1, 1, 0x66, 0, 0], // export "f"
  ]);
  return instantiate<{ f: unknown }>(compile(bytes), { e: { f: call } }).f;
}
