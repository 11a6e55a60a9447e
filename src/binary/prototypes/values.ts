import { type Address, decodeAddress } from "../../nouns/address.js";
import { decodeText } from "../../nouns/text.js";
import {
  type CType,
  type IntType,
  isCharPointer,
  isWideCharPointer,
  type StructType,
  sizeOf,
} from "./types.js";

/** What a C value is in JavaScript: numbers while they are exact, pointers as bigint, NULL as null. */
export type CValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Cut
  | Address
  | readonly CValue[]
  | { readonly [field: string]: CValue };

/** The beginning of a text or of data that is longer than the limit. */
export class Cut {
  constructor(
    readonly start: Uint8Array,
    /** Of the whole; undefined when only its end would tell. */
    readonly length: number | undefined,
    readonly isText: boolean,
  ) {}
}

/** As much of [address, address + length) as can be read; undefined when nothing can. */
export type ReadMemory = (address: bigint, length: number) => Uint8Array | undefined;

const MAX_ELEMENTS = 32;
const MAX_DEPTH = 4;
const MAX_STRINGS = 256;
const MAX_ADDRESS = 128;

/** Reads values of a tracee's memory. Everything in there is hostile: all lengths are bounded. */
export class ValueReader {
  readonly #read: ReadMemory;
  readonly #limit: number;

  /** No text and no data is read beyond so many bytes. */
  constructor(read: ReadMemory, limit: number) {
    this.#read = read;
    this.#limit = limit;
  }

  /** The value that these bytes are. */
  of(type: CType, bytes: Buffer, depth = 0): CValue {
    switch (type.kind) {
      case "int":
        return intValue(type, bytes);
      case "float":
        return type.size === 4
          ? bytes.readFloatLE(0)
          : type.size === 8
            ? bytes.readDoubleLE(0)
            : extended(bytes);
      case "pointer":
        return this.#pointer(type, bytes.readBigUInt64LE(0), depth);
      case "array":
        return this.#array(type.of, type.length, bytes, depth);
      case "struct":
        return this.#struct(type, bytes, depth);
      default:
        return null;
    }
  }

  #pointer(type: CType, address: bigint, depth: number): CValue {
    if (address === 0n) return null;
    // Only inside of structs: whether an argument's text is read is said by its direction.
    if (depth > 0 && isCharPointer(type)) return this.text(address);
    return address;
  }

  #array(of: CType, length: number, bytes: Buffer, depth: number): CValue {
    if (of.kind === "int" && of.reads === "char") return decodeText(untilZero(bytes.subarray(0, length)));
    const size = sizeOf(of);
    const shown = Math.min(length, MAX_ELEMENTS, Math.floor(bytes.length / size));
    return Array.from({ length: shown }, (_, i) =>
      this.of(of, bytes.subarray(i * size, (i + 1) * size), depth + 1),
    );
  }

  #struct(type: StructType, bytes: Buffer, depth: number): CValue {
    if (depth > MAX_DEPTH) return null;
    const value: Record<string, CValue> = {};
    for (const field of type.fields ?? []) {
      const part = bytes.subarray(field.offset, field.offset + sizeOf(field.type));
      if (part.length === sizeOf(field.type) && !field.name.startsWith("__"))
        value[field.name] = this.of(field.type, part, depth + 1);
    }
    return value;
  }

  /** What a pointer points to: `count` elements, or one when that is not said. The address when it cannot be read. */
  pointed(to: CType, address: bigint, count: number | undefined, endsWithNull: boolean): CValue {
    if (address === 0n) return null;
    const isByte = to.kind === "void" || (to.kind === "int" && to.size === 1);
    if (to.kind === "struct" && to.name === "sockaddr" && count !== undefined)
      return this.#address(address, count);
    if (isByte) return count === undefined ? this.text(address) : this.data(address, count);
    if (to.kind === "int" && to.reads === "wide") return this.#wideText(address, count);
    if (to.kind === "pointer" && (endsWithNull || count !== undefined))
      return this.#strings(to, address, count);
    if (to.kind === "function" || (to.kind === "struct" && !to.fields)) return address;
    if (count !== undefined && count !== 1) return this.#elements(to, address, count);
    const bytes = this.#exactly(address, sizeOf(to));
    if (!bytes) return address;
    if (to.kind !== "pointer") return this.of(to, bytes);
    const inner = bytes.readBigUInt64LE(0);
    return isCharPointer(to) || isWideCharPointer(to)
      ? this.pointed(to.to, inner, undefined, false)
      : inner === 0n
        ? null
        : inner;
  }

  #exactly(address: bigint, length: number): Buffer | undefined {
    const bytes = this.#read(address, length);
    return bytes?.length === length ? Buffer.from(bytes.buffer, bytes.byteOffset, length) : undefined;
  }

  #elements(of: CType, address: bigint, count: number): CValue {
    const shown = Math.min(count, MAX_ELEMENTS);
    if (shown <= 0) return [];
    const bytes = this.#exactly(address, shown * sizeOf(of));
    return bytes ? this.#array(of, shown, bytes, -1) : address;
  }

  #address(address: bigint, length: number): CValue {
    const bytes = this.#read(address, Math.min(Math.max(0, length), MAX_ADDRESS));
    return (bytes && decodeAddress(bytes)) ?? address;
  }

  text(address: bigint): CValue {
    const bytes = this.#read(address, this.#limit + 1);
    if (!bytes) return address;
    const end = bytes.indexOf(0);
    if (end >= 0) return decodeText(bytes.subarray(0, end));
    return new Cut(bytes.subarray(0, this.#limit), undefined, true);
  }

  data(address: bigint, length: number): CValue {
    if (length <= 0) return new Uint8Array(0);
    const want = Math.min(length, this.#limit);
    const bytes = this.#read(address, want);
    if (!bytes) return address;
    return bytes.length === length ? bytes : new Cut(bytes, length, false);
  }

  #wideText(address: bigint, count: number | undefined): CValue {
    const signs = Math.min(count ?? this.#limit + 1, this.#limit + 1);
    const bytes = this.#read(address, signs * 4);
    if (!bytes) return address;
    let text = "";
    for (let at = 0; at + 4 <= bytes.length; at += 4) {
      const code = Buffer.from(bytes.buffer, bytes.byteOffset + at, 4).readUInt32LE(0);
      if (code === 0 || at / 4 >= this.#limit) break;
      text += code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
    }
    return text;
  }

  #strings(to: CType, address: bigint, count: number | undefined): CValue {
    const list: CValue[] = [];
    const most = Math.min(count ?? MAX_STRINGS, MAX_STRINGS);
    for (let i = 0; i < most; i++) {
      const pointer = this.#exactly(address + BigInt(i * 8), 8)?.readBigUInt64LE(0);
      if (pointer === undefined) return list.length > 0 ? list : address;
      if (pointer === 0n && count === undefined) break;
      list.push(isCharPointer(to) && pointer !== 0n ? this.text(pointer) : pointer === 0n ? null : pointer);
    }
    return list;
  }
}

function intValue({ size, signed, reads }: IntType, bytes: Buffer): CValue {
  if (size < 8) {
    const value = signed ? bytes.readIntLE(0, size) : bytes.readUIntLE(0, size);
    return reads === "bool" ? value !== 0 : value;
  }
  const value = signed ? bytes.readBigInt64LE(0) : bytes.readBigUInt64LE(0);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** An x87 number: 64 bits of fraction with their first one written out, 15 of exponent, a sign. */
function extended(bytes: Buffer): number {
  const fraction = Number(bytes.readBigUInt64LE(0));
  const high = bytes.readUInt16LE(8);
  const exponent = high & 0x7fff;
  const sign = high & 0x8000 ? -1 : 1;
  if (exponent === 0x7fff)
    return (bytes.readBigUInt64LE(0) & 0x7fffffffffffffffn) === 0n
      ? sign * Number.POSITIVE_INFINITY
      : Number.NaN;
  if (fraction === 0) return sign * 0;
  return sign * (fraction / 2 ** 63) * 2 ** (exponent - 16383);
}

function untilZero(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}
