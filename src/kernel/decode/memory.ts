import { errnoValue } from "../../abi/named.js";
import { decodeText } from "../../nouns/text.js";
import { native } from "../binding/native.js";
import type { Snapshot } from "./snapshot.js";

/**
 * Bounded reads of a tracee's memory. Each byte is read once per event, so that it cannot change between
 * check and use.
 */

const MAX_VECTORS = 1024;
/**
 * The upper limit of execve(2), pointers included, at any rlimit: three quarters of 8 MiB. One word:
 * MAX_ARG_STRLEN.
 */
const MAX_WORDS = 6 * 1024 * 1024;
const MAX_WORD = 128 * 1024;
const EFAULT = errnoValue("EFAULT");
const E2BIG = errnoValue("E2BIG");
const PAGE = 4096n;
/** How many bytes of an array of pointers are read at once: first, and later. */
const FEW_POINTERS = 256;
const MANY_POINTERS = 4096;
const MSGHDR_SIZE = 56;
const MMSGHDR_SIZE = 64;

/**
 * As much of [address, address + length) as can be read now, outside any event; undefined when nothing can.
 */
function readMemory(tid: number, address: bigint, length: number): Buffer | undefined {
  if (length <= 0) return Buffer.alloc(0);
  const bytes = Buffer.allocUnsafe(length);
  const got = native().fetch(tid, address, bytes);
  return got < 0 ? undefined : bytes.subarray(0, got);
}

/** Exactly this many bytes, or undefined. */
export function readExactly(tid: number, address: bigint, length: number): Buffer | undefined {
  const bytes = readMemory(tid, address, length);
  return bytes?.length === length ? bytes : undefined;
}

export function readString(memory: Snapshot, address: bigint, limit: number): string | undefined {
  const bytes = memory.string(address, limit);
  return bytes && decodeText(bytes);
}

/** A NULL-terminated array of strings. Undefined when any part of it cannot be read or it is too long. */
export function readStrings(memory: Snapshot, address: bigint): string[] | undefined {
  const words = readWords(memory, address);
  return typeof words === "number" ? undefined : words;
}

/** The same, or the errno that execve(2) returns for it. Accepts everything that the kernel accepts. */
export function readWords(memory: Snapshot, address: bigint): string[] | number {
  const words: string[] = [];
  if (address === 0n) return words;
  let left = MAX_WORDS;
  let many = FEW_POINTERS;
  for (let at = address; left > 0; at += BigInt(many), many = MANY_POINTERS) {
    const pointers = memory.read(at, many);
    for (let i = 0; i < many && left > 0; i += 8) {
      if (!pointers || i + 8 > pointers.length) return EFAULT;
      const pointer = pointers.readBigUInt64LE(i);
      if (pointer === 0n) return words;
      const word = readWord(memory, pointer);
      if (typeof word === "number") return word;
      words.push(decodeText(word));
      left -= word.length + 1 + 8;
    }
  }
  return E2BIG;
}

/**
 * Words usually follow each other. So the rest of a page is copied once, and serves all words that end in it.
 */
function readWord(memory: Snapshot, at: bigint): Buffer | number {
  memory.read(at, Number(PAGE - (at % PAGE)));
  const word = memory.string(at, MAX_WORD);
  return word ?? (memory.read(at, MAX_WORD)?.length === MAX_WORD ? E2BIG : EFAULT);
}

export interface Piece {
  readonly address: bigint;
  readonly length: number;
}

/** The pieces of a struct iovec[]. */
export function readVectors(memory: Snapshot, address: bigint, count: number): Piece[] | undefined {
  if (count > MAX_VECTORS) return undefined;
  const bytes = memory.exactly(address, count * 16);
  if (!bytes) return undefined;
  return Array.from({ length: count }, (_, i) => ({
    address: bytes.readBigUInt64LE(i * 16),
    length: Number(bytes.readBigUInt64LE(i * 16 + 8)),
  }));
}

/** The bytes of all pieces in order, up to a limit. A copy. */
export function readPieces(memory: Snapshot, pieces: readonly Piece[], limit: number): Buffer | undefined {
  const parts: Buffer[] = [];
  let left = limit;
  for (const piece of pieces) {
    if (left <= 0) break;
    const want = Math.min(piece.length, left);
    const part = memory.read(piece.address, want);
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

export function readMessageHeader(memory: Snapshot, address: bigint): MessageHeader | undefined {
  const bytes = memory.exactly(address, MSGHDR_SIZE);
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

/** The addresses of the headers: one msghdr, or an array of mmsghdr. */
export function messageHeaders(kind: string, base: bigint, count: number): bigint[] {
  if (kind === "msghdr") return [base];
  const length = Math.min(count, MAX_MESSAGES);
  return Array.from({ length }, (_, k) => base + BigInt(k * MMSGHDR_SIZE));
}

/** The address that a message is sent to, as bytes. */
export function readMessageName(memory: Snapshot, { name }: MessageHeader): Uint8Array | undefined {
  if (name.address === 0n || name.length === 0) return undefined;
  return memory.read(name.address, Math.min(name.length, MAX_ADDRESS));
}

const MAX_CONTROL = 64 * 1024;
const CMSGHDR_SIZE = 16;
const CMSG_ALIGNMENT = 8;

/** The level and type of each control message, as far as the kernel would read them (CMSG_NXTHDR). */
export function readControls(memory: Snapshot, { control }: MessageHeader): [level: number, type: number][] {
  if (control.address === 0n || control.length < CMSGHDR_SIZE) return [];
  const bytes = memory.read(control.address, Math.min(control.length, MAX_CONTROL));
  const found: [number, number][] = [];
  for (let at = 0; bytes && at + CMSGHDR_SIZE <= bytes.length; ) {
    const length = Number(bytes.readBigUInt64LE(at));
    if (length < CMSGHDR_SIZE || length > bytes.length - at) break;
    found.push([bytes.readInt32LE(at + 8), bytes.readInt32LE(at + 12)]);
    at += Math.ceil(length / CMSG_ALIGNMENT) * CMSG_ALIGNMENT;
  }
  return found;
}
