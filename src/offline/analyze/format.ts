/** How a report writes numbers and names, in a terminal as on a page: it uses nothing that only one of them has. */

export function formatDuration(seconds: number): string {
  if (seconds >= 100) return `${Math.round(seconds).toLocaleString("en")} s`;
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  if (seconds >= 1e-3) return `${(seconds * 1e3).toFixed(1)} ms`;
  return seconds === 0 ? "0" : `${(seconds * 1e6).toFixed(1)} µs`;
}

export function formatBytes(n: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let value = n;
  for (; value >= 1000 && unit < units.length - 1; unit++) value /= 1000;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e007f}]/gu;

/** A text without characters that cannot be seen, turn others around, or speak to a terminal: these are spelled out. */
export function spellInvisible(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = character.codePointAt(0)!;
    if (character === "\n") return "\\n";
    const isByte = code >= 0xdc80 && code <= 0xdcff; // see text.ts
    return isByte ? `\\x${(code - 0xdc00).toString(16)}` : `\\u{${code.toString(16)}}`;
  });
}
