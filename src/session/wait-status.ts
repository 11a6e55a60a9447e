/** Decodes a wait(2) status. */
export function waitStatus(status: number): { code?: number; signal?: number } {
  const signal = status & 0x7f;
  return signal === 0 ? { code: (status >> 8) & 0xff } : { signal };
}
