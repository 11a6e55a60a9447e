import type { Address } from "./address.js";

/** From the mildest to the strictest. When several policies answer, the strictest action wins. */
export const VERDICT_ACTIONS = ["allow", "modify", "emulate", "fault", "ask", "deny", "kill"] as const;
export type VerdictAction = (typeof VERDICT_ACTIONS)[number];

/** What a policy says about one event. */
export interface Verdict {
  readonly action: VerdictAction;
  /** An explanation for a person or an agent. */
  readonly reason?: string;
  /** The rule that decided, when the policy has named rules. */
  readonly rule?: string;
  /** For allow: count and record the call nevertheless. */
  readonly watched?: true;
  /** For deny: the error that the program sees. Default: EACCES. */
  readonly errno?: string | number;
  readonly change?: CallChange;
  readonly emulation?: Emulation;
  readonly fault?: Fault;
}

/** The `rule` of a decision that denies an event because its policy failed. */
export const POLICY_ERROR = "policy-error";

/** A verdict, and the policy that gave it. */
export interface Decision extends Verdict {
  readonly policy: string;
  readonly version: string;
  /** For ask: what the other policies make of the call, once it is approved; absent: the call itself. */
  readonly onGrant?: Decision;
}

/** How an allowed call differs from the call that the program made. */
export interface CallChange {
  /** A new path or a new address, depending on which of them the call takes. */
  readonly to?: string | Uint8Array | Address;
  /** New values of arguments, by name or index: numbers, or text and bytes for what a pointer points at. */
  readonly args?: Readonly<Record<string | number, number | bigint | string | Uint8Array>>;
  /** New bytes for the call's data: the data to be written or, on return, the data that was read. */
  readonly data?: string | Uint8Array;
  /** On return: the result that the program sees. Text and bytes suit functions that return a pointer. */
  readonly result?: number | bigint | string | Uint8Array;
  /** For an instruction: register values before it runs (for rdtsc, rdtscp and cpuid: after it ran). */
  readonly registers?: RegisterValues;
}

/** By name: `{ rax: 1n, ebx: 0 }`. As on the processor, a 32-bit name clears the upper half. */
export type RegisterValues = Readonly<Record<string, number | bigint>>;

/** The call does not happen; the program sees this result instead. */
export interface Emulation {
  /** Text and bytes suit functions that return a pointer. */
  readonly result: number | bigint | string | Uint8Array;
  /** Bytes for the call's out buffer. */
  readonly data?: string | Uint8Array;
  /** Bytes for other out arguments, by name or index. */
  readonly outputs?: Readonly<Record<string | number, string | Uint8Array>>;
  /** For calls that open a file: the content of the virtual file that the program gets. */
  readonly content?: string | Uint8Array;
  /** Bytes for any address in the program's memory. */
  readonly memory?: readonly { readonly address: bigint; readonly bytes: Uint8Array }[];
  /** For instructions: the register values that they leave behind. */
  readonly registers?: RegisterValues;
  /** Makes the call on behalf of the program when the verdict is carried out, not before; returns its result. */
  readonly perform?: () => number;
}

/** A failure injected on purpose. Fields that are absent inject nothing; an errno skips the call. */
export interface Fault {
  readonly errno?: string | number;
  readonly delay?: number;
  readonly signal?: string | number;
  /** Transfer at most this many bytes. */
  readonly short?: number;
}

const ALLOW: Verdict = Object.freeze({ action: "allow" });

export function allow(reason?: string): Verdict {
  return reason === undefined ? ALLOW : { action: "allow", reason };
}

export function deny(reason?: string, errno: string | number = "EACCES"): Verdict {
  return { action: "deny", errno, ...(reason !== undefined && { reason }) };
}

export function kill(reason?: string): Verdict {
  return { action: "kill", ...(reason !== undefined && { reason }) };
}

export function ask(reason: string): Verdict {
  return { action: "ask", reason };
}

/** Sends the call to another path or address than the program asked for. */
export function redirect(to: string | Uint8Array | Address, reason?: string): Verdict {
  return { action: "modify", change: { to }, ...(reason !== undefined && { reason }) };
}

export function modify(change: CallChange, reason?: string): Verdict {
  return { action: "modify", change, ...(reason !== undefined && { reason }) };
}

export function emulate(
  result: number | bigint | string | Uint8Array,
  output?: string | Uint8Array | Omit<Emulation, "result">,
  reason?: string,
): Verdict {
  const rest = typeof output === "string" || output instanceof Uint8Array ? { data: output } : output;
  return { action: "emulate", emulation: { result, ...rest }, ...(reason !== undefined && { reason }) };
}

/** A virtual file that only this program sees: for calls that open a file. */
export function virtualFile(content: string | Uint8Array, reason?: string): Verdict {
  return { action: "emulate", emulation: { result: 0, content }, ...(reason !== undefined && { reason }) };
}

export function fault(fault: Fault, reason?: string): Verdict {
  return { action: "fault", fault, ...(reason !== undefined && { reason }) };
}

export function delay(milliseconds: number, reason?: string): Verdict {
  return fault({ delay: milliseconds }, reason);
}

/** emulate, modify and fault have the same rank. Two different ones on one event are a conflict. */
const RANK: Record<VerdictAction, number> = {
  allow: 0,
  modify: 1,
  emulate: 1,
  fault: 1,
  ask: 2,
  deny: 3,
  kill: 4,
};

export function isStricter(a: VerdictAction, b: VerdictAction): boolean {
  return RANK[a] > RANK[b];
}

/**
 * True when both verdicts would change the event. The caller must then refuse the event instead of choosing
 * one.
 */
export function conflict(a: Verdict, b: Verdict): boolean {
  return RANK[a.action] === 1 && RANK[b.action] === 1;
}
