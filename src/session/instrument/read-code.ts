import { native } from "../../kernel/binding/native.js";
import type { PatchedMemory } from "./patched-memory.js";

/** The readable part of the program's original code at this address, without our breakpoints. */
export function codeAt(
  tid: number,
  space: PatchedMemory,
  address: number,
  length: number,
): Uint8Array | undefined {
  const code = Buffer.alloc(length);
  const got = native().fetch(tid, BigInt(address), code);
  if (got <= 0) return undefined;
  for (let i = 0; i < got; i++) {
    const site = space.site(address + i);
    if (site) code[i] = site.byte;
  }
  return code.subarray(0, got);
}

const one = Buffer.alloc(1);

export function readByte(tid: number, address: number): number | undefined {
  return native().fetch(tid, BigInt(address), one) === 1 ? one[0] : undefined;
}

const eight = Buffer.alloc(8);

/** A word of the program's memory, as an address. */
export function readWord(tid: number, address: number): number | undefined {
  if (native().fetch(tid, BigInt(address), eight) !== 8) return undefined;
  const word = eight.readUInt32LE(4) * 2 ** 32 + eight.readUInt32LE(0);
  return word < 2 ** 47 ? word : undefined;
}
