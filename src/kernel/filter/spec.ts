import type { FilterAction } from "./action.js";

/**
 * A constant test on one register argument.
 *
 * `width` 32 means that the kernel reads only the low half of the register (int, unsigned, mode_t, ...). The
 * program may leave any bits in the upper half, so the test ignores it.
 *
 * `masked` holds when `(argument & mask) == value`. `in` takes a list, every other operation one value. For
 * eq, ne, in and masked a negative constant means its two's complement (AT_FDCWD is -100n). An ordering reads
 * the constant as a number: unsigned unless `signed`, and within the argument's range.
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
  gate?: CodeGate;
}

/**
 * A range of addresses below 2^32, the last one excluded. Any code of the program can jump into the range. So
 * its records are observability only, not a security boundary.
 */
export interface CodeGate {
  from: number;
  to: number;
}

export interface FilterSpec {
  /** Per syscall number: ordered rules, then the fallback. */
  calls: Map<number, CallTreatment>;
  /** The action for numbers without an entry, also those that no table has. */
  otherwise: FilterAction;
  /** The action for calls of another ABI: ia32 (int 0x80) and x32 (bit 30). */
  foreign: { do: "kill" } | { do: "errno"; errno: number } | { do: "notify" };
}
