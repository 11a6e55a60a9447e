import { existsSync } from "node:fs";

/** Longer than anything takes on a busy machine, and shorter than a test may take: a wait that fails says for what it waited. */
const LIMIT_MS = 100_000;

/**
 * Waits until `look` gives something, and returns that. Tests wait for conditions, never for a time. `what` completes
 * "waited in vain for …"; without it, the condition itself is named.
 */
export async function until<T>(
  look: () => T | Promise<T>,
  what = String(look),
  limit = LIMIT_MS,
): Promise<Exclude<T, undefined | null | false>> {
  for (const end = Date.now() + limit; ; ) {
    const found = await look();
    if (found) return found as Exclude<T, undefined | null | false>;
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export const isThere = (file: string) => () => existsSync(file);
