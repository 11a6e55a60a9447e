import { callNumber, signalValue } from "../../abi/named.js";
import { native } from "../../kernel/binding/native.js";
import { readExactly } from "../../kernel/decode/memory.js";
import { readText } from "../../kernel/process/proc.js";
import type { PatchedMemory } from "./patched-memory.js";
import { findSyscall } from "./stub-pool.js";
import { writeText } from "./text-buffer.js";

/**
 * A program's own handling of SIGTRAP. When a thread that blocks or ignores SIGTRAP hits an int3, the kernel
 * resets that (force_sig). So we remember the setting and restore it.
 */

export const RT_SIGACTION = callNumber("rt_sigaction");
export const SIGTRAP = signalValue("SIGTRAP");
const ACTION_SIZE = 32;
const MASK_SIZE = 8n;
const SIG_IGN = 1n;

/** rt_sigaction(SIGTRAP, action, …) has succeeded. */
export function noteTrapAction(tid: number, space: PatchedMemory, action: number): void {
  if (action === 0) return;
  const bytes = readExactly(tid, BigInt(action), ACTION_SIZE);
  space.trapAction = bytes && bytes.readBigUInt64LE() !== 0n ? Uint8Array.from(bytes) : undefined;
}

/** An exec keeps ignored signals ignored. */
export function inheritTrapAction(tid: number, space: PatchedMemory): void {
  if (!has(tid, "SigIgn")) return;
  space.trapAction = new Uint8Array(ACTION_SIZE);
  new DataView(space.trapAction.buffer).setBigUint64(0, SIG_IGN, true);
}

/** After a hit: restores the program's own action. */
export function restoreTrapAction(tid: number, space: PatchedMemory): void {
  const { trapAction } = space;
  if (!trapAction) return;
  const ignores = new DataView(trapAction.buffer).getBigUint64(0, true) === SIG_IGN;
  if (has(tid, ignores ? "SigIgn" : "SigCgt")) return;
  const at = writeText(tid, space, trapAction);
  if (space.gadget === 0) space.gadget = findSyscall(tid) ?? 0;
  const call = BigUint64Array.of(BigInt(RT_SIGACTION), BigInt(SIGTRAP), BigInt(at), 0n, MASK_SIZE, 0n, 0n);
  native().call(tid, BigInt(space.gadget), new Uint8Array(call.buffer));
}

function has(tid: number, field: "SigIgn" | "SigCgt"): boolean {
  const hex = new RegExp(`^${field}:\\t([0-9a-f]+)$`, "m").exec(readText(`/proc/${tid}/status`))?.[1];
  return hex !== undefined && (BigInt(`0x${hex}`) & (1n << BigInt(SIGTRAP - 1))) !== 0n;
}
