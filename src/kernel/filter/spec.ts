import type { FilterAction } from "./action.js";

/**
 * A constant test on one register argument.
 *
 * `width` 32 means that the kernel reads only the low half of the register (int, unsigned, mode_t, ...):
 * a program may leave anything above it, so the upper half is not looked at.
 *
 * `masked` holds when `(argument & mask) == value`. `in` takes a list, every other operation one value.
 * For eq, ne, in and masked a negative constant means its two's complement (AT_FDCWD is -100n).
 * Ordering takes the constant as a number: unsigned unless `signed`, and it must be one the argument can have.
 */
export interface ArgumentTest {
  arg: number;
  width: 32 | 64;
  op: "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "in" | "masked";
  value: bigint | bigint[];
  mask?: bigint;
  signed?: boolean;
}

/** A rule decided in the filter: all tests must hold. The first matching rule of a syscall wins. */
export interface FilterRule {
  tests: ArgumentTest[];
  action: FilterAction;
}

/** The ordered rules of one syscall and what happens when none matches. */
export interface CallTreatment {
  rules: FilterRule[];
  otherwise: FilterAction;
  /** Code whose calls are allowed where no rule matches, instead of `otherwise`. */
  gate?: Gate;
}

/**
 * Addresses, below 2^32 and without the last. Any code can jump to the ones within: what comes from there is trusted to
 * tell, never to behave.
 */
export interface Gate {
  from: number;
  to: number;
}

export interface FilterSpec {
  /** Per syscall number: ordered rules, then the fallback. */
  calls: Map<number, CallTreatment>;
  /** Numbers with no entry, whether a table knows them or not. */
  otherwise: FilterAction;
  /** What to do with calls of another ABI: ia32 (int 0x80) and x32 (bit 30). */
  foreign: { do: "kill" } | { do: "errno"; errno: number } | { do: "notify" };
}
