export const count = (n: number) => n.toLocaleString("en");

export function duration(seconds: number): string {
  if (seconds >= 100) return `${Math.round(seconds).toLocaleString("en")} s`;
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  if (seconds >= 1e-3) return `${(seconds * 1e3).toFixed(1)} ms`;
  return seconds === 0 ? "0" : `${(seconds * 1e6).toFixed(1)} µs`;
}

export function bytes(n: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let value = n;
  for (; value >= 1000 && unit < units.length - 1; unit++) value /= 1000;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

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
