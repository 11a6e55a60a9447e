/** How a process ended, of what wait(2) says. */
export function waitStatus(status: number): { code?: number; signal?: number } {
  const signal = status & 0x7f;
  return signal === 0 ? { code: (status >> 8) & 0xff } : { signal };
}
