export const count = (n: number) => n.toLocaleString("en");

export { formatBytes, formatDuration, spellInvisible } from "../../src/offline/analyze/format.js";

/** The middle of a long text is what one misses least. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = Math.ceil((limit - 1) * 0.4);
  return `${text.slice(0, head)}…${text.slice(text.length - (limit - 1 - head))}`;
}

/** Round numbers for an axis. */
export function ticks(from: number, to: number, wanted: number): number[] {
  const rough = (to - from) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  const found: number[] = [];
  for (let t = Math.ceil(from / step) * step; t <= to && found.length < 100; t += step) found.push(t);
  return found;
}
