import { EMPTY, I32, SECTION, WASM_OP, WasmBinary } from "./wasm-module.js";

/**
 * Adds a fuel meter to a WebAssembly module. Lua's own count hook sees virtual machine instructions only. A
 * pattern that backtracks for ever, a table.concat over 2^63 elements or an empty string.rep loop inside C,
 * where no hook fires. So the compiled interpreter itself counts: every iteration of every loop takes one
 * unit from a cell in linear memory. Where it is safe to give up, running out of fuel calls out: between two
 * virtual machine instructions and in the loops of the standard library, but never inside the garbage
 * collector or while a table is resized.
 */

/** The fuel cell: a 32-bit word on the first page, which the linker leaves empty below address 1024. */
export const FUEL_ADDRESS = 16;

/**
 * Inside the core, where giving up would corrupt the state, nothing may continue longer than this after the
 * fuel is used up.
 */
export const HARD_LIMIT = 100_000_000;

export interface Metered {
  readonly binary: Uint8Array;
  /** The slot of the function table that is called, as a `() => void`, when the fuel is used up. */
  readonly tripSlot: number;
  /** The number of functions that may give up. */
  readonly guarded: number;
}

/** luaV_execute is the largest function, and its switch has at least this many opcodes. */
const VM_OPCODES = 80;
/** The cost of calling a library function. */
const CALL_COST = 20;
/** One unit of fuel pays for 2^BULK_SHIFT bytes of memory.copy and memory.fill. */
const BULK_SHIFT = 4;

function leb(value: number): number[] {
  const bytes: number[] = [];
  let rest = value >>> 0;
  do {
    const byte = rest & 0x7f;
    rest >>>= 7;
    bytes.push(rest ? byte | 0x80 : byte);
  } while (rest);
  return bytes;
}

function signedLeb(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; ) {
    const byte = rest & 0x7f;
    rest >>= 7;
    if ((rest === 0 && !(byte & 0x40)) || (rest === -1 && byte & 0x40)) return [...bytes, byte];
    bytes.push(byte | 0x80);
  }
}

/**
 * The functions in which it is safe to give up: the virtual machine, the library's functions (reached only
 * through the function table), and their helpers (which the interpreter's core does not use).
 */
function guardedFunctions(module: WasmBinary): { vm: number; library: Set<number>; helpers: Set<number> } {
  const sizes = module.bodies.map((body) => body.to - body.code);
  const vm = sizes.indexOf(Math.max(...sizes)) + module.imported;
  if (module.body(vm)!.widestJump < VM_OPCODES)
    throw new RangeError("cannot tell which function is the virtual machine");
  const isLibrary = (index: number) => module.isLuaFunction(index) && !module.exported.has(index);
  const indirect = [...module.inTable].filter((index) => !isLibrary(index));
  const core = module.reach([...module.exported, ...indirect], () => false);
  const library = new Set([...module.inTable].filter((index) => isLibrary(index) && !core.has(index)));
  const reached = module.reach(library, (index) => module.exported.has(index));
  const helpers = new Set([...reached].filter((index) => !core.has(index) && !library.has(index)));
  return { vm, library, helpers };
}

/** `fuel -= amount`, where the amount's code leaves it on the stack. */
function take(amount: readonly number[], check: readonly number[], scratch: number): number[] {
  return [
    ...[WASM_OP.i32Const, 0],
    ...[WASM_OP.i32Const, 0, WASM_OP.i32Load, 2, ...leb(FUEL_ADDRESS)],
    ...amount,
    WASM_OP.i32Sub,
    ...[WASM_OP.localTee, ...leb(scratch)],
    ...[WASM_OP.i32Store, 2, ...leb(FUEL_ADDRESS)],
    ...check,
  ];
}

interface Guard {
  /** True when its loops give up without fuel. */
  readonly loops: boolean;
  /** The cost of entering it, and whether it gives up there. */
  readonly entry: number;
  readonly entryCheck: boolean;
}

function instrument(module: WasmBinary, index: number, guard: Guard): Uint8Array {
  const body = module.body(index)!;
  const { bytes } = module;
  if (body.places.length === 0 && guard.entry === 0) return bytes.subarray(body.from, body.to);
  const scratch = module.parametersOf(index) + body.locals;
  const check = [
    ...[WASM_OP.localGet, ...leb(scratch), WASM_OP.i32Const, ...signedLeb(guard.loops ? 0 : -HARD_LIMIT)],
    ...[WASM_OP.i32LtS, WASM_OP.if, EMPTY],
    ...[WASM_OP.i32Const, ...signedLeb(module.tableSize), WASM_OP.callIndirect, ...leb(module.emptyType), 0],
    WASM_OP.end,
  ];
  const one = [WASM_OP.i32Const, 1];
  const parts: Uint8Array[] = [
    Uint8Array.from(leb(body.localGroups + 1)),
    bytes.subarray(body.localsFrom, body.code),
    Uint8Array.from([1, I32]),
  ];
  const turn = Uint8Array.from(take(one, check, scratch));
  // The length is on top of the stack: save it while a part of it is taken from the fuel.
  const part = [WASM_OP.localGet, ...leb(scratch), WASM_OP.i32Const, BULK_SHIFT, WASM_OP.i32ShrU];
  const bulk = Uint8Array.from([WASM_OP.localTee, ...leb(scratch), ...take(part, [], scratch)]);
  if (guard.entry > 0) {
    const cost = [WASM_OP.i32Const, ...signedLeb(guard.entry)];
    parts.push(Uint8Array.from(take(cost, guard.entryCheck ? check : [], scratch)));
  }
  let copied = body.code;
  for (const { at, kind } of body.places) {
    parts.push(bytes.subarray(copied, at), kind === "loop" ? turn : bulk);
    copied = at;
  }
  parts.push(bytes.subarray(copied, body.to));
  return concat(parts);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function meter(binary: Uint8Array): Metered {
  const module = new WasmBinary(binary);
  const { vm, library, helpers } = guardedFunctions(module);
  const bodies = module.bodies.flatMap((_, i) => {
    const index = i + module.imported;
    const isHelper = helpers.has(index);
    const isLibrary = library.has(index);
    const code = instrument(module, index, {
      loops: index === vm || isLibrary || isHelper,
      entry: isLibrary ? CALL_COST : isHelper ? 1 : 0,
      // A library function may run as a finalizer inside the garbage collector: only its loops may give up.
      entryCheck: isHelper,
    });
    return [Uint8Array.from(leb(code.length)), code];
  });
  const code = concat([Uint8Array.from(leb(module.bodies.length)), ...bodies]);
  const parts = [binary.subarray(0, 8)];
  for (const { id, from, to } of module.sections) {
    const content = id === SECTION.code ? code : binary.subarray(from, to);
    parts.push(Uint8Array.from([id, ...leb(content.length)]), content);
  }
  return { binary: concat(parts), tripSlot: module.tableSize, guarded: 1 + library.size + helpers.size };
}
