import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const SCRIPT = readFileSync(new URL("readable-page.mjs", import.meta.url), "utf8").replace("export ", "");

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds in a page, with the elements. It is evaluated, so the page's own rules on scripts stay in force. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResult>("axe.run(document, { resultTypes: ['violations'] })");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** What of a page some people could not read or use: contrast, headings, width, names. Empty when there is nothing. */
export function unreadable(page: Page): Promise<string[]> {
  return page.evaluate(`(() => { ${SCRIPT}; return unreadable(); })()`);
}
