/**
 * Puts a fuel meter into a WebAssembly module. Lua's own count hook sees virtual machine instructions only: a pattern
 * that backtracks for ever, a table.concat over 2^63 elements or an empty string.rep spin inside C, where no hook
 * fires. So the interpreter's machine code itself is made to count: every turn of every loop takes one unit from a
 * cell in linear memory, and where it is safe to give up (between two virtual machine instructions, and in the loops
 * of the standard library, but never inside the collector or a table's resizing) an empty tank calls out.
 */

/** The fuel cell: a 32-bit word on the first page, which the linker leaves empty below address 1024. */
export const FUEL_ADDRESS = 16;

/** Inside the core, where giving up leaves a ruin, nothing may go on for longer than this past an empty tank. */
export const HARD_LIMIT = 300_000_000;

export interface Metered {
  readonly binary: Uint8Array;
  /** The slot of the function table that is called, as a `() => void`, when the tank is empty. */
  readonly tripSlot: number;
  /** In how many functions it gives up. */
  readonly guarded: number;
}

/** luaV_execute is the largest function, and jumps over so many opcodes at once. */
const VM_OPCODES = 80;
/** Bytes that memory.copy and memory.fill move for one unit. */
const BULK_SHIFT = 4;

const SECTION = { type: 1, import: 2, function: 3, table: 4, export: 7, element: 9, code: 10 } as const;
const OP = {
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  brTable: 0x0e,
  call: 0x10,
  callIndirect: 0x11,
  localGet: 0x20,
  localTee: 0x22,
  i32Load: 0x28,
  i32Store: 0x36,
  i32Const: 0x41,
  i32LtS: 0x48,
  i32Sub: 0x6b,
  i32ShrU: 0x76,
} as const;
const EMPTY = 0x40;
const I32 = 0x7f;
const FUNC = 0x60;

class Reader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    const byte = this.bytes[this.at++];
    if (byte === undefined) throw new RangeError("the WebAssembly module is cut short");
    return byte;
  }

  u32(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  skipLeb(): void {
    while (this.byte() >= 0x80);
  }

  skip(count: number): void {
    this.at += count;
  }

  skipName(): void {
    this.skip(this.u32());
  }
}

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

interface Section {
  readonly id: number;
  readonly from: number;
  readonly to: number;
}

function sectionsOf(bytes: Uint8Array): Section[] {
  const reader = new Reader(bytes, 8);
  const sections: Section[] = [];
  while (reader.at < bytes.length) {
    const id = reader.byte();
    const size = reader.u32();
    sections.push({ id, from: reader.at, to: reader.at + size });
    reader.skip(size);
  }
  return sections;
}

interface Instruction {
  readonly op: number;
  readonly at: number;
  /** The called function, the number of targets of a br_table, or the number of a 0xfc instruction. */
  readonly value: number;
}

/** Reads one instruction and its immediates. */
function nextInstruction(reader: Reader): Instruction {
  const at = reader.at;
  const op = reader.byte();
  let value = 0;
  if ((op >= 0x02 && op <= 0x04) || (op >= 0x0c && op <= 0x0d) || (op >= 0x20 && op <= 0x26))
    reader.skipLeb();
  else if (op === OP.call) value = reader.u32();
  else if (op === OP.brTable) {
    value = reader.u32();
    for (let i = 0; i <= value; i++) reader.skipLeb();
  } else if (op === OP.callIndirect || (op >= 0x28 && op <= 0x3e)) {
    reader.skipLeb();
    reader.skipLeb();
  } else if (op === 0x3f || op === 0x40) reader.skip(1);
  else if (op === 0x41 || op === 0x42 || op === 0xd0 || op === 0xd2) reader.skipLeb();
  else if (op === 0x43) reader.skip(4);
  else if (op === 0x44) reader.skip(8);
  else if (op === 0x1c) reader.skip(reader.u32());
  else if (op === 0xfc) {
    value = reader.u32();
    if (value === 8 || value === 10 || value === 12 || value === 14) reader.skip(2);
    else if (value > 8) reader.skip(1);
    if (value > 17) throw new RangeError(`unknown WebAssembly instruction 0xfc ${value}`);
  } else if (
    !(
      op <= 0x01 ||
      op === 0x05 ||
      op === 0x0b ||
      op === 0x0f ||
      op === 0x1a ||
      op === 0x1b ||
      (op >= 0x45 && op <= 0xc4) ||
      op === 0xd1
    )
  )
    throw new RangeError(`unknown WebAssembly instruction 0x${op.toString(16)}`);
  return { op, at, value };
}

interface Body {
  readonly from: number;
  readonly to: number;
  /** Where the instructions begin, after the locals. */
  readonly code: number;
  readonly localGroups: number;
  readonly localsFrom: number;
  readonly locals: number;
  readonly calls: ReadonlySet<number>;
  readonly widestJump: number;
}

function bodyAt(bytes: Uint8Array, from: number, to: number): Body {
  const reader = new Reader(bytes, from);
  const localGroups = reader.u32();
  const localsFrom = reader.at;
  let locals = 0;
  for (let i = 0; i < localGroups; i++) {
    locals += reader.u32();
    reader.byte();
  }
  const code = reader.at;
  const calls = new Set<number>();
  let widestJump = 0;
  while (reader.at < to) {
    const { op, value } = nextInstruction(reader);
    if (op === OP.call) calls.add(value);
    if (op === OP.brTable) widestJump = Math.max(widestJump, value);
  }
  return { from, to, code, localGroups, localsFrom, locals, calls, widestJump };
}

class Module {
  readonly bytes: Uint8Array;
  readonly sections: Section[];
  readonly imported: number;
  readonly bodies: Body[];
  /** Each type's parameters and results, as text. */
  readonly #signatures: { parameters: number; text: string }[] = [];
  readonly emptyType: number;
  readonly tableSize: number;
  readonly exported = new Set<number>();
  readonly inTable = new Set<number>();
  readonly #types: number[] = [];

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.sections = sectionsOf(bytes);
    this.emptyType = this.#readTypes();
    this.imported = this.#readImports();
    this.#each(SECTION.function, (reader) => this.#types.push(reader.u32()));
    this.#each(SECTION.export, (reader) => {
      reader.skipName();
      const kind = reader.byte();
      const index = reader.u32();
      if (kind === 0) this.exported.add(index);
    });
    this.tableSize = this.#readTable();
    this.#each(SECTION.element, (reader) => {
      if (reader.u32() !== 0) throw new RangeError("an element segment of an unknown kind");
      while (nextInstruction(reader).op !== OP.end);
      for (let count = reader.u32(); count > 0; count--) this.inTable.add(reader.u32());
    });
    this.bodies = [];
    this.#each(SECTION.code, (reader) => {
      const size = reader.u32();
      this.bodies.push(bodyAt(bytes, reader.at, reader.at + size));
      reader.skip(size);
    });
  }

  section(id: number): Section {
    const found = this.sections.find((section) => section.id === id);
    if (!found) throw new RangeError(`the WebAssembly module has no section ${id}`);
    return found;
  }

  #signature(index: number): { parameters: number; text: string } {
    return this.#signatures[this.#types[index - this.imported]!]!;
  }

  parametersOf(index: number): number {
    return this.#signature(index).parameters;
  }

  /** Has the shape of a lua_CFunction: takes a state, gives a number. */
  isLuaFunction(index: number): boolean {
    return index >= this.imported && this.#signature(index).text === `${I32}>${I32}`;
  }

  body(index: number): Body | undefined {
    return this.bodies[index - this.imported];
  }

  #each(id: number, read: (reader: Reader) => void): void {
    const reader = new Reader(this.bytes, this.section(id).from);
    for (let count = reader.u32(); count > 0; count--) read(reader);
  }

  #readTypes(): number {
    this.#each(SECTION.type, (reader) => {
      if (reader.byte() !== FUNC) throw new RangeError("a type that is no function");
      const list = () => Array.from({ length: reader.u32() }, () => reader.byte());
      const parameters = list();
      this.#signatures.push({ parameters: parameters.length, text: `${parameters}>${list()}` });
    });
    const empty = this.#signatures.findIndex(({ text }) => text === ">");
    if (empty < 0) throw new RangeError("no type for a function without arguments");
    return empty;
  }

  #readImports(): number {
    let functions = 0;
    this.#each(SECTION.import, (reader) => {
      reader.skipName();
      reader.skipName();
      if (reader.byte() !== 0) throw new RangeError("an import that is no function");
      reader.skipLeb();
      functions++;
    });
    return functions;
  }

  #readTable(): number {
    const reader = new Reader(this.bytes, this.section(SECTION.table).from);
    reader.skip(2);
    const flags = reader.byte();
    const size = reader.u32();
    if (flags !== 0) throw new RangeError("the function table cannot grow");
    return size;
  }

  /** Everything that can be reached from some functions by direct calls. */
  reach(from: Iterable<number>, stop: (index: number) => boolean): Set<number> {
    const seen = new Set<number>();
    const next = [...from];
    for (let index = next.pop(); index !== undefined; index = next.pop()) {
      if (seen.has(index)) continue;
      seen.add(index);
      for (const called of this.body(index)?.calls ?? []) if (!stop(called)) next.push(called);
    }
    return seen;
  }
}

/**
 * The functions in which it is safe to give up: the virtual machine, the library's functions (which only the table
 * of functions leads to), and their helpers (which the interpreter's core does not use).
 */
function guardedFunctions(module: Module): { vm: number; library: Set<number>; helpers: Set<number> } {
  const sizes = module.bodies.map((body) => body.to - body.from);
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

/** `fuel -= amount`, where the code for the amount leaves it on the stack. */
function take(amount: readonly number[], check: readonly number[], scratch: number): number[] {
  return [
    ...[OP.i32Const, 0],
    ...[OP.i32Const, 0, OP.i32Load, 2, ...leb(FUEL_ADDRESS)],
    ...amount,
    OP.i32Sub,
    ...[OP.localTee, ...leb(scratch)],
    ...[OP.i32Store, 2, ...leb(FUEL_ADDRESS)],
    ...check,
  ];
}

function instrument(module: Module, index: number, guard: { loops: boolean; entry: boolean }): Uint8Array {
  const body = module.body(index)!;
  const { bytes } = module;
  const scratch = module.parametersOf(index) + body.locals;
  const check = [
    ...[OP.localGet, ...leb(scratch), OP.i32Const, ...signedLeb(guard.loops ? 0 : -HARD_LIMIT)],
    ...[OP.i32LtS, OP.if, EMPTY],
    ...[OP.i32Const, ...signedLeb(module.tableSize), OP.callIndirect, ...leb(module.emptyType), 0],
    OP.end,
  ];
  const one = [OP.i32Const, 1];
  const parts: Uint8Array[] = [
    Uint8Array.from(leb(body.localGroups + 1)),
    bytes.subarray(body.localsFrom, body.code),
    Uint8Array.from([1, I32]),
  ];
  if (guard.entry) parts.push(Uint8Array.from(take(one, check, scratch)));
  const reader = new Reader(bytes, body.code);
  let copied = body.code;
  while (reader.at < body.to) {
    const { op, at, value } = nextInstruction(reader);
    if (op === OP.loop) {
      parts.push(bytes.subarray(copied, reader.at));
      parts.push(Uint8Array.from(take(one, check, scratch)));
      copied = reader.at;
    } else if (op === 0xfc && (value === 10 || value === 11)) {
      // The length is on top of the stack: it is kept aside while a part of it is taken from the tank.
      const length = [OP.localTee, ...leb(scratch)];
      const amount = [OP.localGet, ...leb(scratch), OP.i32Const, BULK_SHIFT, OP.i32ShrU];
      parts.push(bytes.subarray(copied, at));
      parts.push(Uint8Array.from([...length, ...take(amount, [], scratch)]));
      copied = at;
    }
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
  const module = new Module(binary);
  const { vm, library, helpers } = guardedFunctions(module);
  const bodies = module.bodies.map((_, i) => {
    const index = i + module.imported;
    const loops = index === vm || library.has(index) || helpers.has(index);
    // A library function may be called as a finalizer, inside the collector: only its loops may give up.
    const code = instrument(module, index, { loops, entry: helpers.has(index) });
    return concat([Uint8Array.from(leb(code.length)), code]);
  });
  const code = concat([Uint8Array.from(leb(bodies.length)), ...bodies]);
  const parts = [binary.subarray(0, 8)];
  for (const { id, from, to } of module.sections) {
    const content = id === SECTION.code ? code : binary.subarray(from, to);
    parts.push(Uint8Array.from([id, ...leb(content.length)]), content);
  }
  return { binary: concat(parts), tripSlot: module.tableSize, guarded: 1 + library.size + helpers.size };
}
