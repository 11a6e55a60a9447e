/**
 * Calls that programs make without entering the kernel, in code that it maps into each of them (vdso(7)):
 * gettimeofday, time, clock_gettime, clock_getres, getcpu. Where a policy names one, that is switched off.
 */
export const VDSO_CALLS: ReadonlySet<number> = new Set([96, 201, 228, 229, 309]);
