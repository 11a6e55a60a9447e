/** Parses just enough of a WebAssembly module to find its functions, their calls and their loops. */

export const SECTION = {
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  export: 7,
  element: 9,
  code: 10,
} as const;
export const WASM_OP = {
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
  misc: 0xfc,
} as const;
const MEMORY_COPY = 10;
const MEMORY_FILL = 11;
/** The immediate bytes of each instruction of the 0xfc group; the indices in them are all below 128. */
const MISC_IMMEDIATES = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1];
export const EMPTY = 0x40;
export const I32 = 0x7f;
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

/** The immediates of each opcode: a number of LEB128 values, or a special form. */
const SHAPE = {
  one: 1,
  two: 2,
  byte: 3,
  four: 4,
  eight: 8,
  types: 9,
  table: 10,
  misc: 11,
  unknown: 12,
} as const;

const SHAPES = new Uint8Array(256).fill(SHAPE.unknown);
for (const [from, to, shape] of [
  [0x00, 0x01, 0],
  [0x02, 0x04, SHAPE.one],
  [0x05, 0x05, 0],
  [0x0b, 0x0b, 0],
  [0x0c, 0x0d, SHAPE.one],
  [0x0e, 0x0e, SHAPE.table],
  [0x0f, 0x0f, 0],
  [0x10, 0x10, SHAPE.one],
  [0x11, 0x11, SHAPE.two],
  [0x1a, 0x1b, 0],
  [0x1c, 0x1c, SHAPE.types],
  [0x20, 0x26, SHAPE.one],
  [0x28, 0x3e, SHAPE.two],
  [0x3f, 0x40, SHAPE.byte],
  [0x41, 0x42, SHAPE.one],
  [0x43, 0x43, SHAPE.four],
  [0x44, 0x44, SHAPE.eight],
  [0x45, 0xc4, 0],
  [0xd0, 0xd0, SHAPE.one],
  [0xd1, 0xd1, 0],
  [0xd2, 0xd2, SHAPE.one],
  [0xfc, 0xfc, SHAPE.misc],
] as const)
  SHAPES.fill(shape, from, to + 1);

/** Reads an opcode's immediates; returns the called function, a br_table's targets, or a 0xfc's number. */
function immediate(reader: Reader, op: number): number {
  switch (SHAPES[op]) {
    case 0:
      return 0;
    case SHAPE.one:
      return reader.u32();
    case SHAPE.two:
      reader.skipLeb();
      reader.skipLeb();
      return 0;
    case SHAPE.byte:
    case SHAPE.four:
    case SHAPE.eight:
      reader.skip(SHAPES[op] === SHAPE.byte ? 1 : SHAPES[op]!);
      return 0;
    case SHAPE.types:
      reader.skip(reader.u32());
      return 0;
    case SHAPE.table: {
      const targets = reader.u32();
      for (let i = 0; i <= targets; i++) reader.skipLeb();
      return targets;
    }
    case SHAPE.misc: {
      const number = reader.u32();
      if (number >= MISC_IMMEDIATES.length) break;
      reader.skip(MISC_IMMEDIATES[number]!);
      return number;
    }
  }
  throw new RangeError(`unknown WebAssembly instruction 0x${op.toString(16)}`);
}

interface Body {
  readonly from: number;
  readonly to: number;
  /** The start of the instructions, after the locals. */
  readonly code: number;
  readonly localGroups: number;
  readonly localsFrom: number;
  readonly locals: number;
  readonly calls: readonly number[];
  readonly widestJump: number;
  /** The first instruction of each loop, and each bulk memory operation, in order. */
  readonly places: readonly { readonly at: number; readonly kind: "loop" | "bulk" }[];
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
  const calls: number[] = [];
  const places: { at: number; kind: "loop" | "bulk" }[] = [];
  let widestJump = 0;
  while (reader.at < to) {
    const { at } = reader;
    const op = reader.byte();
    const value = immediate(reader, op);
    if (op === WASM_OP.call) calls.push(value);
    else if (op === WASM_OP.brTable) widestJump = Math.max(widestJump, value);
    else if (op === WASM_OP.loop) places.push({ at: reader.at, kind: "loop" });
    else if (op === WASM_OP.misc && (value === MEMORY_COPY || value === MEMORY_FILL))
      places.push({ at, kind: "bulk" });
  }
  return { from, to, code, localGroups, localsFrom, locals, calls, widestJump, places };
}

export class WasmBinary {
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
      for (let op = reader.byte(); op !== WASM_OP.end; op = reader.byte()) immediate(reader, op);
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

  /** True for the signature of a lua_CFunction: takes a state, returns a number. */
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

  /** Everything reachable from some functions by direct calls. */
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
