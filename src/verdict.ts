import type { Address } from "./address.js";

/** From the mildest to the strictest; over several policies the strictest wins. */
export const ACTIONS = ["allow", "modify", "emulate", "fault", "ask", "deny", "kill"] as const;
export type Action = (typeof ACTIONS)[number];

/** What a policy says about one event. */
export interface Verdict {
  readonly action: Action;
  /** Text for a person or an agent. */
  readonly reason?: string;
  /** The rule that decided, when the policy has named rules. */
  readonly rule?: string;
  /** For allow: it is to be counted and recorded all the same. */
  readonly watched?: true;
  /** For deny: the error the program sees. Default EACCES. */
  readonly errno?: string | number;
  readonly change?: Change;
  readonly emulation?: Emulation;
  readonly fault?: Fault;
}

/** A verdict and who gave it. */
export interface Decision extends Verdict {
  readonly policy: string;
  readonly version: string;
}

/** What is different about a call that is let through. */
export interface Change {
  /** New value of the call's path or address: whichever it takes. */
  readonly to?: string | Uint8Array | Address;
  /** New values of arguments by name or index: numbers, or text and bytes for what pointers point at. */
  readonly args?: Readonly<Record<string | number, number | bigint | string | Uint8Array>>;
  /** New bytes for the call's data: what is written, or (on return) what was read. */
  readonly data?: string | Uint8Array;
  /** On return: what the program sees as the result. Text and bytes for functions that return a pointer to them. */
  readonly result?: number | bigint | string | Uint8Array;
  /** Of an instruction: registers as it is to find them (of rdtsc, rdtscp and cpuid: as it is to leave them). */
  readonly registers?: RegisterValues;
}

/** By name: `{ rax: 1n, ebx: 0 }`. A name of 32 bits clears the upper half, as the machine does. */
export type RegisterValues = Readonly<Record<string, number | bigint>>;

/** The call does not happen; the program sees this. */
export interface Emulation {
  /** Text and bytes for functions that return a pointer to them. */
  readonly result: number | bigint | string | Uint8Array;
  /** Bytes for the call's out buffer. */
  readonly data?: string | Uint8Array;
  /** Bytes for other out arguments, by name or index. */
  readonly outputs?: Readonly<Record<string | number, string | Uint8Array>>;
  /** For calls that open a file: the content of the file that the program gets instead. */
  readonly content?: string | Uint8Array;
  /** Bytes for any memory of the program. */
  readonly memory?: readonly { readonly address: bigint; readonly bytes: Uint8Array }[];
  /** For instructions: what they leave behind. */
  readonly registers?: RegisterValues;
}

/** Something goes wrong on purpose. What is not given does not happen; an errno skips the call. */
export interface Fault {
  readonly errno?: string | number;
  readonly delay?: number;
  readonly signal?: string | number;
  /** At most so many bytes are transferred. */
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

/** Another path, or another address, in place of the one that was asked for. */
export function redirect(to: string | Uint8Array | Address, reason?: string): Verdict {
  return { action: "modify", change: { to }, ...(reason !== undefined && { reason }) };
}

export function modify(change: Change, reason?: string): Verdict {
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

/** A file that exists only for the program: for calls that open one. */
export function virtualFile(content: string | Uint8Array, reason?: string): Verdict {
  return { action: "emulate", emulation: { result: 0, content }, ...(reason !== undefined && { reason }) };
}

export function fault(fault: Fault, reason?: string): Verdict {
  return { action: "fault", fault, ...(reason !== undefined && { reason }) };
}

export function delay(milliseconds: number, reason?: string): Verdict {
  return fault({ delay: milliseconds }, reason);
}

/** emulate, modify and fault are of one rank: two different ones on one event are a conflict. */
const RANK: Record<Action, number> = { allow: 0, modify: 1, emulate: 1, fault: 1, ask: 2, deny: 3, kill: 4 };

export function isStricter(a: Action, b: Action): boolean {
  return RANK[a] > RANK[b];
}

/** Whether both would change the event: the caller must refuse to choose. */
export function conflict(a: Verdict, b: Verdict): boolean {
  return RANK[a.action] === 1 && RANK[b.action] === 1;
}
