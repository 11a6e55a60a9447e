import { isUtf8 } from "node:buffer";
import { decodeText, encodeText } from "../../nouns/text.js";
import { type LuaExports, LuaMachine, type Pointer } from "./machine.js";

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
  "verdict",
  "number",
  "string",
  "table",
  "function",
  "userdata",
  "thread",
];

const SCRATCH = 64 * 1024;
const MAX_TEXT = 16 * 1024;
const MAX_CLIPPED = 4096;
/** For a string of kept state. */
const MAX_KEPT = 1024 * 1024;
const ODD_BYTE_COST = 200;
/** For an entry of a table that we read. */
const ENTRY_COST = 200;
const SMALL = Array.from({ length: 1024 }, (_, i) => BigInt(i));

/** Nested plain data of Lua: integers are bigints, floats are numbers, tables are maps. */
export type LuaData = boolean | bigint | number | string | Map<LuaData, LuaData>;

/**
 * Converts values between us and a Lua state. Lua text is bytes (see text.ts for bytes that are not UTF-8).
 */
export class LuaValues {
  readonly machine: LuaMachine;
  readonly x: LuaExports;
  readonly #scratch: Pointer;
  readonly #length: Pointer;

  constructor(memory: number) {
    this.machine = new LuaMachine(memory);
    this.x = this.machine.x;
    this.#scratch = this.x.malloc(SCRATCH);
    this.#length = this.x.malloc(8);
  }

  /** Charges the script for work that we do for it. */
  charge(units: number): void {
    this.machine.fuel -= units;
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
        this.charge(length >> 2);
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

  /** A copy of a string's bytes, up to a limit; undefined when it is no string. */
  bytes(L: Pointer, index: number, limit = Number.MAX_SAFE_INTEGER): Uint8Array | undefined {
    if (this.x.lua_type(L, index) !== TYPE.string) return undefined;
    const at = this.x.lua_tolstring(L, index, this.#length);
    const length = Math.min(this.machine.words[this.#length >> 2]!, limit);
    this.charge(length >> 4);
    return this.machine.bytes.slice(at, at + length);
  }

  /** A name, a path, a word: longer text is an error. */
  text(L: Pointer, index: number, limit = MAX_TEXT): string | undefined {
    const bytes = this.bytes(L, index, limit + 1);
    if (bytes && bytes.length > limit)
      throw new TypeError(`a string of more than ${limit} bytes is too long here`);
    return bytes && this.#decode(bytes);
  }

  /** For a user to read: the beginning is enough. */
  clipped(L: Pointer, index: number, limit = MAX_CLIPPED): string | undefined {
    const bytes = this.bytes(L, index, limit + 1);
    if (!bytes || bytes.length <= limit) return bytes && this.#decode(bytes);
    return `${this.#decode(bytes.subarray(0, limit))}…`;
  }

  /** Bytes that are not UTF-8 are decoded one by one, which is slow. */
  #decode(bytes: Uint8Array): string {
    this.charge(isUtf8(bytes) ? bytes.length : bytes.length * ODD_BYTE_COST);
    return decodeText(bytes);
  }

  /** An integer exactly, a float as a number. */
  number(L: Pointer, index: number): number | bigint | undefined {
    const { x } = this;
    if (x.lua_type(L, index) !== TYPE.number) return undefined;
    return x.lua_isinteger(L, index) ? x.lua_tointegerx(L, index, 0) : x.lua_tonumberx(L, index, 0);
  }

  /** A number, text, boolean, list or record as a JavaScript value; whole numbers that fit are numbers. */
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

  /** Visits a table's pairs without using its metatable: the key is at -2, the value at -1. */
  each(L: Pointer, index: number, visit: () => void): void {
    const { x } = this;
    const table = x.lua_absindex(L, index);
    this.#room(L);
    x.lua_pushnil(L);
    while (x.lua_next(L, table)) {
      this.charge(ENTRY_COST);
      visit();
      x.lua_settop(L, -2);
    }
  }

  /** Nested tables of strings, numbers and booleans. The error names any other value. */
  data(L: Pointer, index: number, path = "hermes.state", seen = new Set<Pointer>()): LuaData {
    const { x } = this;
    switch (x.lua_type(L, index)) {
      case TYPE.boolean:
        return x.lua_toboolean(L, index) !== 0;
      case TYPE.number:
        return this.number(L, index)!;
      case TYPE.string:
        return this.text(L, index, MAX_KEPT)!;
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

  /** Reads a field of one of our tables: leaves its value on top of the stack. */
  getField(L: Pointer, table: number, key: string): number {
    const at = this.x.lua_absindex(L, table);
    this.pushText(L, key);
    return this.x.lua_rawget(L, at);
  }
}
