import { SYSCALLS, type Syscall, syscallByNumber } from "../abi/index.js";
import { HermesError } from "../errors.js";
import { trapsCounter } from "../policy/instruction-pattern.js";
import type { PolicyStack } from "../policy/stack.js";
import { VDSO_CALLS } from "../policy/vdso.js";

/** What programs do without entering the kernel, and policies want to see all the same. */
export interface Unhidden {
  /** Calls that the vDSO must not serve. */
  readonly unhidden: ReadonlySet<number>;
  /** Reading the time stamp counter stops the program. */
  readonly trapsCounter: boolean;
}

/** The vDSO reads the counter itself: where that stops a program, all of its calls enter the kernel. */
export function unhide(
  stack: PolicyStack,
  door: "auto" | "notify" | "trace",
  live: readonly Syscall[] = [],
): Unhidden {
  const traps = stack.policies.some(({ subscription }) => trapsCounter(subscription));
  const named = [...stack.interests()].flatMap(([nr, interest]) => (interest.named ? [nr] : []));
  const constant = stack.constants.map(({ nr }) => nr);
  const later = live.length < SYSCALLS.length ? live.map(({ nr }) => nr) : []; // "*" names none of them
  const calls = new Set([...named, ...constant, ...later].filter((nr) => VDSO_CALLS.has(nr)));
  if ((traps || calls.size > 0) && door === "notify") {
    const names = [...calls].map((nr) => syscallByNumber(nr)!.name);
    throw new HermesError("UNAVAILABLE", {
      what: `to see ${traps ? "the time stamp counter read" : `every ${names.join(", ")}`}`,
      why: "programs do that without entering the kernel, which only the trace door can change",
    });
  }
  return { unhidden: traps ? VDSO_CALLS : calls, trapsCounter: traps };
}

/** What this stack wants to see, and what is in force leaves hidden. */
export function stillHidden({ unhidden, trapsCounter }: Unhidden, stack: PolicyStack): string[] {
  const wanted = unhide(stack, "auto");
  const calls = [...wanted.unhidden].filter((nr) => !unhidden.has(nr));
  return [
    ...(wanted.trapsCounter && !trapsCounter ? ["rdtsc"] : []),
    ...calls.map((nr) => syscallByNumber(nr)!.name),
  ];
}
