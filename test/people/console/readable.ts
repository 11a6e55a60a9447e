import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

const SCRIPT = readFileSync(new URL("readable-page.mjs", import.meta.url), "utf8").replace("export ", "");

/** What of a page some people could not read or use: contrast, headings, width, names. Empty when there is nothing. */
export function unreadable(page: Page): Promise<string[]> {
  return page.evaluate(`(() => { ${SCRIPT}; return unreadable(); })()`);
}
