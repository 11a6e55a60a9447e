/** How much of a file an agent may read at once. */
export const MAX_READ_CHARS = 100_000;

interface ReadRequest {
  /** The length of the whole file, or of the requested part. */
  readonly chars?: unknown;
  readonly offset?: unknown;
  readonly limit?: unknown;
}

/** Why a read is refused before it happens; undefined when it is allowed. */
export function readRefusal({ chars, offset, limit }: ReadRequest, max: number): string | undefined {
  if (typeof chars !== "number" || chars <= max) return undefined;
  const part = offset !== undefined || limit !== undefined ? "This part" : "The file";
  return `${part} has ${chars.toLocaleString("en")} characters; at most ${max.toLocaleString("en")} can be read at once.`;
}

export interface Window {
  /** The first line, from 1. */
  readonly offset: number;
  /** How many lines. */
  readonly limit: number;
}

export type Page =
  | { readonly ok: true; readonly text: string; readonly lines: number; readonly next?: number }
  | { readonly ok: false; readonly reason: string };

/** The lines of a window, if they fit; where to continue, if there are more. */
export function readPage(text: string, { offset, limit }: Window, max = MAX_READ_CHARS): Page {
  let start = 0;
  for (let line = 1; line < offset; line++) {
    const end = text.indexOf("\n", start);
    if (end < 0) return { ok: true, text: "", lines: 0 };
    start = end + 1;
  }
  let end = start;
  let lines = 0;
  while (lines < limit && end < text.length) {
    const next = text.indexOf("\n", end);
    end = next < 0 ? text.length : next + 1;
    lines++;
  }
  const refusal = readRefusal({ chars: end - start, offset, limit }, max);
  if (refusal !== undefined) return { ok: false, reason: `${refusal} Use offset and limit to read less.` };
  const more = end < text.length ? { next: offset + lines } : {};
  return { ok: true, text: text.slice(start, end), lines, ...more };
}
