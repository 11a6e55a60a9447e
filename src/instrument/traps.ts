import { readExactly } from "../decode/memory.js";
import { native } from "../kernel/native.js";
import { readText } from "../process/proc.js";
import { findSyscall } from "./pool.js";
import type { Space } from "./space.js";
import { putText } from "./texts.js";

/**
 * What a program does about SIGTRAP itself. An int3 that it runs into while it blocks or ignores the signal makes the
 * kernel forget that (force_sig): so we remember, and tell the kernel again.
 */

export const RT_SIGACTION = 13;
export const SIGTRAP = 5;
const ACTION_SIZE = 32;
const MASK_SIZE = 8n;
const IGNORE = 1n;

/** rt_sigaction(SIGTRAP, action, …) has succeeded. */
export function noteTrapAction(tid: number, space: Space, action: number): void {
  if (action === 0) return;
  const bytes = readExactly(tid, BigInt(action), ACTION_SIZE);
  space.trapAction = bytes && bytes.readBigUInt64LE() !== 0n ? Uint8Array.from(bytes) : undefined;
}

/** A new program still ignores what the one before it ignored. */
export function inheritTrapAction(tid: number, space: Space): void {
  if (!has(tid, "SigIgn")) return;
  space.trapAction = new Uint8Array(ACTION_SIZE);
  new DataView(space.trapAction.buffer).setBigUint64(0, IGNORE, true);
}

/** After a hit: the program's own action is what it was. */
export function restoreTrapAction(tid: number, space: Space): void {
  const { trapAction } = space;
  if (!trapAction) return;
  const ignores = new DataView(trapAction.buffer).getBigUint64(0, true) === IGNORE;
  if (has(tid, ignores ? "SigIgn" : "SigCgt")) return;
  const at = putText(tid, space, trapAction);
  if (space.gadget === 0) space.gadget = findSyscall(tid) ?? 0;
  const call = BigUint64Array.of(BigInt(RT_SIGACTION), BigInt(SIGTRAP), BigInt(at), 0n, MASK_SIZE, 0n, 0n);
  native().call(tid, BigInt(space.gadget), new Uint8Array(call.buffer));
}

function has(tid: number, field: "SigIgn" | "SigCgt"): boolean {
  const hex = new RegExp(`^${field}:\\t([0-9a-f]+)$`, "m").exec(readText(`/proc/${tid}/status`))?.[1];
  return hex !== undefined && (BigInt(`0x${hex}`) & (1n << BigInt(SIGTRAP - 1))) !== 0n;
}
