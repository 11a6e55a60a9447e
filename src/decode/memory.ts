import { native } from "../kernel/native.js";
import { decodeText } from "../text.js";

/** Bounded reads of a tracee's memory. Everything is copied: what is decided on cannot change afterwards. */

const MAX_VECTORS = 1024;
const MAX_STRINGS = 4096;
const MAX_STRING = 128 * 1024;
/** So many bytes of an array of pointers are read at once. */
const POINTERS = 256;
const MSGHDR_SIZE = 56;
const MMSGHDR_SIZE = 64;

/** As much of [address, address + length) as can be read; undefined when nothing can. */
export function readMemory(tid: number, address: bigint, length: number): Buffer | undefined {
  if (length <= 0) return Buffer.alloc(0);
  const bytes = Buffer.allocUnsafe(length);
  const got = native().fetch(tid, address, bytes);
  return got < 0 ? undefined : bytes.subarray(0, got);
}

/** Exactly that much, or undefined. */
export function readExactly(tid: number, address: bigint, length: number): Buffer | undefined {
  const bytes = readMemory(tid, address, length);
  return bytes?.length === length ? bytes : undefined;
}

/** For strings as they mostly are: decoded at once, and so free for the next. */
const shortString = Buffer.alloc(4096);

export function readString(tid: number, address: bigint, limit: number): string | undefined {
  if (address === 0n) return undefined;
  const bytes = limit <= shortString.length ? shortString.subarray(0, limit) : Buffer.allocUnsafe(limit);
  const got = native().fetchString(tid, address, bytes);
  return got < 0 ? undefined : decodeText(bytes.subarray(0, got));
}

/** A NULL-terminated array of strings. Undefined when any part of it cannot be read or it is too long. */
export function readStrings(tid: number, address: bigint): string[] | undefined {
  if (address === 0n) return [];
  const strings: string[] = [];
  for (let at = address; strings.length <= MAX_STRINGS; at += BigInt(POINTERS)) {
    const pointers = readMemory(tid, at, POINTERS);
    for (let i = 0; i < POINTERS; i += 8) {
      if (!pointers || i + 8 > pointers.length) return undefined;
      const pointer = pointers.readBigUInt64LE(i);
      if (pointer === 0n) return strings;
      const text = readString(tid, pointer, 4096) ?? readString(tid, pointer, MAX_STRING);
      if (text === undefined) return undefined;
      strings.push(text);
    }
  }
  return undefined;
}

export interface Piece {
  readonly address: bigint;
  readonly length: number;
}

/** The pieces that a struct iovec[] names. */
export function readVectors(tid: number, address: bigint, count: number): Piece[] | undefined {
  if (count > MAX_VECTORS) return undefined;
  const bytes = readExactly(tid, address, count * 16);
  if (!bytes) return undefined;
  return Array.from({ length: count }, (_, i) => ({
    address: bytes.readBigUInt64LE(i * 16),
    length: Number(bytes.readBigUInt64LE(i * 16 + 8)),
  }));
}

/** The bytes of all pieces in order, up to a limit. */
export function readPieces(tid: number, pieces: readonly Piece[], limit: number): Buffer | undefined {
  const parts: Buffer[] = [];
  let left = limit;
  for (const piece of pieces) {
    if (left <= 0) break;
    const want = Math.min(piece.length, left);
    const part = readMemory(tid, piece.address, want);
    if (!part) return parts.length > 0 ? Buffer.concat(parts) : undefined;
    parts.push(part);
    if (part.length < want) break;
    left -= part.length;
  }
  return Buffer.concat(parts);
}

export interface MessageHeader {
  readonly name: Piece;
  readonly vectors: bigint;
  readonly vectorCount: number;
  readonly control: Piece;
}

export function readMessageHeader(tid: number, address: bigint): MessageHeader | undefined {
  const bytes = readExactly(tid, address, MSGHDR_SIZE);
  if (!bytes) return undefined;
  return {
    name: { address: bytes.readBigUInt64LE(0), length: bytes.readUInt32LE(8) },
    vectors: bytes.readBigUInt64LE(16),
    vectorCount: Number(bytes.readBigUInt64LE(24)),
    control: { address: bytes.readBigUInt64LE(32), length: Number(bytes.readBigUInt64LE(40)) },
  };
}

export const MAX_ADDRESS = 128;
const MAX_MESSAGES = 1024;

/** Where the headers of a msghdr or of an array of mmsghdr lie. */
export function messageHeaders(kind: string, base: bigint, count: number): bigint[] {
  if (kind === "msghdr") return [base];
  const length = Math.min(count, MAX_MESSAGES);
  return Array.from({ length }, (_, k) => base + BigInt(k * MMSGHDR_SIZE));
}

/** The address that a message is sent to, as bytes. */
export function readMessageName(tid: number, { name }: MessageHeader): Uint8Array | undefined {
  if (name.address === 0n || name.length === 0) return undefined;
  return readMemory(tid, name.address, Math.min(name.length, MAX_ADDRESS));
}

const MAX_CONTROL = 64 * 1024;
const CMSGHDR_SIZE = 16;
const CMSG_ALIGNMENT = 8;

/** The level and type of each control message, as far as they can be read and the kernel would read them (CMSG_NXTHDR). */
export function readControls(tid: number, { control }: MessageHeader): [level: number, type: number][] {
  if (control.address === 0n || control.length < CMSGHDR_SIZE) return [];
  const bytes = readMemory(tid, control.address, Math.min(control.length, MAX_CONTROL));
  const found: [number, number][] = [];
  for (let at = 0; bytes && at + CMSGHDR_SIZE <= bytes.length; ) {
    const length = Number(bytes.readBigUInt64LE(at));
    if (length < CMSGHDR_SIZE || length > bytes.length - at) break;
    found.push([bytes.readInt32LE(at + 8), bytes.readInt32LE(at + 12)]);
    at += Math.ceil(length / CMSG_ALIGNMENT) * CMSG_ALIGNMENT;
  }
  return found;
}
