import type { Syscall } from "../abi/index.js";

/** A call of a newer kernel than our tables are of. */
export function unknownCall(nr: number): Syscall {
  const args = Array.from({ length: 6 }, (_, i) => ({
    name: `arg${i}`,
    kind: "address" as const,
    width: 64 as const,
  }));
  return { nr, name: `syscall_${nr}`, args, classes: [], returns: "value" };
}
