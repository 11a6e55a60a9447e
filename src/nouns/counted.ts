/**
 * 1,234,567, as toLocaleString("en") formats it. The first call of toLocaleString takes as long as a short
 * run.
 */
export function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** "1 call", "1,234 calls". `several` where an s does not make it several. */
export function counted(count: number, noun: string, several = `${noun}s`): string {
  return `${groupDigits(count)} ${count === 1 ? noun : several}`;
}
