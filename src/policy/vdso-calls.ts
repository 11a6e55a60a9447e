import { callNumbers } from "../abi/named.js";
/**
 * Calls that programs make without entering the kernel, through the vDSO (vdso(7)). When a policy names one,
 * we disable its vDSO version.
 */
export const VDSO_CALLS: ReadonlySet<number> = new Set(
  callNumbers("gettimeofday time clock_gettime clock_getres getcpu"),
);
