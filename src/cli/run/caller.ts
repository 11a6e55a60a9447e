const LOOK_MS = 200;

/**
 * Calls `act` when the process that started us has ended. Asked of the kernel again and again: a parent-death signal would also
 * come when only the thread that started us ends (prctl(2)), as threads of an agent's runtime do.
 */
export function whenCallerEnds(act: () => void): void {
  const caller = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === caller) return;
    clearInterval(timer);
    act();
  }, LOOK_MS);
  timer.unref();
}
