import { SYSCALLS, type Syscall, syscallByNumber } from "../../abi/index.js";
import { HermesError } from "../../nouns/errors.js";
import { trapsCounter } from "../../policy/instruction-pattern.js";
import type { PolicyStack } from "../../policy/stack.js";
import { VDSO_CALLS } from "../../policy/vdso-calls.js";

/** Operations that programs perform without entering the kernel, and that policies subscribe to. */
export interface UnhiddenVdso {
  /** Calls that the vDSO must not serve. */
  readonly unhidden: ReadonlySet<number>;
  /** Reading the time stamp counter stops the program. */
  readonly trapsCounter: boolean;
}

/**
 * The vDSO reads the counter itself. If that read stops the program, all vDSO calls must enter the kernel.
 */
export function unhideVdso(
  stack: PolicyStack,
  door: "auto" | "notify" | "trace",
  live: readonly Syscall[] = [],
): UnhiddenVdso {
  const traps = stack.policies.some(({ subscription }) => trapsCounter(subscription));
  const named = [...stack.subscriptions()].flatMap(([nr, subscription]) => (subscription.named ? [nr] : []));
  const constant = stack.constants.map(({ nr }) => nr);
  const later = live.length < SYSCALLS.length ? live.map(({ nr }) => nr) : []; // "*" names none of them
  const calls = new Set([...named, ...constant, ...later].filter((nr) => VDSO_CALLS.has(nr)));
  if ((traps || calls.size > 0) && door === "notify") {
    const names = [...calls].map((nr) => syscallByNumber(nr)!.name);
    throw new HermesError("UNAVAILABLE", {
      what: `to see ${traps ? "the time stamp counter read" : `every ${names.join(", ")}`}`,
      why: "programs do that without entering the kernel, and only the trace door can change this",
    });
  }
  return { unhidden: traps ? VDSO_CALLS : calls, trapsCounter: traps };
}

/** Operations that this stack subscribes to and the installed doors leave hidden. */
export function vdsoStillHidden({ unhidden, trapsCounter }: UnhiddenVdso, stack: PolicyStack): string[] {
  const wanted = unhideVdso(stack, "auto");
  const calls = [...wanted.unhidden].filter((nr) => !unhidden.has(nr));
  return [
    ...(wanted.trapsCounter && !trapsCounter ? ["rdtsc"] : []),
    ...calls.map((nr) => syscallByNumber(nr)!.name),
  ];
}
